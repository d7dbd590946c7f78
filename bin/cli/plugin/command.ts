import { Command, InvalidArgumentError, Option } from 'commander'
import { duration } from '../../../config/fields.ts'
import { later } from '../later.ts'

/** `switchyard plugin …`: what is done with plugins from outside a gateway. */
export function pluginCommand(): Command {
  const plugin = new Command('plugin').description('write, check and install plugins').showHelpAfterError()
  const printing = (command: Command): Command => command.option('--json', 'for programs')
  const changing = (command: Command): Command =>
    printing(command)
      .option('--url <url>', 'URL of the gateway; by default from the configuration')
      .option('--key <key>', 'an admin key of the running gateway; by default SERVICE_ADMIN_KEY')
      .option('--timeout <duration>', 'time limit of each step, such as 90s or 20m', milliseconds)
  const taking = (command: Command): Command =>
    changing(command)
      .option('--yes', 'accept the permissions that the plugin asks for')
      .option('--no-check', 'skip the conformance kit')

  plugin
    .command('new <name>')
    .description('write a folder with a working plugin to start from')
    .addOption(
      new Option('--kind <kind>', 'kind of plugin').choices(['module', 'area', 'provider']).default('module'),
    )
    .option('--dir <folder>', 'folder for the plugin folder', '.')
    .action(later(async () => (await import('./new.ts')).create))
  printing(plugin.command('check <folder>'))
    .description('run the plugin in a folder through the conformance kit')
    .action(later(async () => (await import('./check.ts')).check))
  printing(plugin.command('dev [folder]'))
    .description('show what the plugin in a folder does to a call, again at every save')
    .option('--once', 'show it once, run the checks, and end; exit code 1 if something is wrong')
    .action(later(async () => (await import('./dev.ts')).dev))
  taking(plugin.command('add <package>'))
    .description('install a package (name, archive or folder) without running its scripts, and switch it on')
    .action(later(async () => (await import('./installed.ts')).add))
  taking(plugin.command('update <name> [package]'))
    .description('update an installed plugin to its newest version, or to the named one')
    .action(later(async () => (await import('./installed.ts')).update))
  changing(plugin.command('rollback <name>'))
    .description('go back to the previous version')
    .action(later(async () => (await import('./installed.ts')).rollback))
  changing(plugin.command('remove <name>'))
    .description('stop an installed plugin, delete its files and its settings')
    .addOption(new Option('--keep-settings', 'keep its settings for a later add').conflicts('erase'))
    .option('--erase', 'also erase its stored data: collections, logs, sequences and counters')
    .option('--yes', 'erase without asking')
    .action(later(async () => (await import('./removed.ts')).remove))
  changing(plugin.command('erase <name>'))
    .description('erase the stored data and settings of a removed plugin')
    .option('--yes', 'erase without asking')
    .action(later(async () => (await import('./removed.ts')).erase))
  printing(plugin.command('list'))
    .description('list the installed plugins')
    .action(later(async () => (await import('./installed.ts')).list))
  printing(plugin.command('info <name>'))
    .description('show one installed plugin: version, integrity, permissions, previous version')
    .action(later(async () => (await import('./installed.ts')).info))
  return plugin
}

function milliseconds(text: string): number {
  const { data, error } = duration(1).safeParse(text)
  if (data === undefined) throw new InvalidArgumentError(error!.issues[0]!.message)
  return data
}
