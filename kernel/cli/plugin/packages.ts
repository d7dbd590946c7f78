import type { Command } from 'commander'
import { add, info, list, remove, rollback, update } from './installed.ts'

/** The commands that install packages as plugins, change and remove them. */
export function addPackageCommands(plugin: Command): void {
  const taking = (command: Command): Command =>
    reaching(command)
      .option('--yes', 'accept the permissions it asks for')
      .option('--no-check', 'take it without the conformance kit')
  taking(plugin.command('add <package>'))
    .description('install a package (name, archive or folder) without running its scripts, and switch it on')
    .action(add)
  taking(plugin.command('update <name> [package]'))
    .description('take the newest version of an installed plugin, or the one that is named')
    .action(update)
  reaching(plugin.command('rollback <name>')).description('go back to the version before').action(rollback)
  reaching(plugin.command('remove <name>'))
    .description('stop an installed plugin and remove its files')
    .action(remove)
  plugin.command('list').description('what was installed').option('--json', 'for programs').action(list)
  plugin
    .command('info <name>')
    .description('one installed plugin: version, integrity, permissions')
    .option('--json', 'for programs')
    .action(info)
}

/** Commands that tell a running gateway. */
const reaching = (command: Command): Command =>
  command
    .option('--url <url>', 'where the gateway listens, when not where the configuration says')
    .option('--key <key>', 'an admin key of the running gateway; SERVICE_ADMIN_KEY without it')
    .option('--json', 'for programs')
