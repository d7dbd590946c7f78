import { Command, InvalidArgumentError, Option } from 'commander'
import { duration } from '../../../kernel/config/fields.ts'
import { later } from '../later.ts'

/** `switchyard plugin …`: what is done with plugins from outside a gateway. */
export function pluginCommand(): Command {
  const plugin = new Command('plugin').description('write, check and install plugins').showHelpAfterError()
  const printing = (command: Command): Command => command.option('--json', 'for programs')
  const changing = (command: Command): Command =>
    printing(command)
      .option('--url <url>', 'where the gateway listens, when not where the configuration says')
      .option('--key <key>', 'an admin key of the running gateway; SERVICE_ADMIN_KEY without it')
      .option('--timeout <duration>', 'how long each step may take, such as 90s or 20m', milliseconds)
  const taking = (command: Command): Command =>
    changing(command)
      .option('--yes', 'accept the permissions it asks for')
      .option('--no-check', 'take it without the conformance kit')

  plugin
    .command('new <name>')
    .description('write a folder with a plugin that works, to begin with')
    .addOption(
      new Option('--kind <kind>', 'what it is').choices(['module', 'area', 'provider']).default('module'),
    )
    .option('--dir <folder>', 'where its folder goes', '.')
    .action(later(async () => (await import('./new.ts')).create))
  printing(plugin.command('check <folder>'))
    .description('run the plugin in a folder through the conformance kit')
    .action(later(async () => (await import('./check.ts')).check))
  printing(plugin.command('dev [folder]'))
    .description('show what the plugin in a folder does to a call, again at every save')
    .option('--once', 'show it once, run the checks, and end: exit code 1 when something is wrong')
    .action(later(async () => (await import('./dev.ts')).dev))
  taking(plugin.command('add <package>'))
    .description('install a package (name, archive or folder) without running its scripts, and switch it on')
    .action(later(async () => (await import('./installed.ts')).add))
  taking(plugin.command('update <name> [package]'))
    .description('take the newest version of an installed plugin, or the one that is named')
    .action(later(async () => (await import('./installed.ts')).update))
  changing(plugin.command('rollback <name>'))
    .description('go back to the version before')
    .action(later(async () => (await import('./installed.ts')).rollback))
  changing(plugin.command('remove <name>'))
    .description('stop an installed plugin, remove its files and forget its settings')
    .addOption(
      new Option('--keep-settings', 'leave its settings for the day it is added again').conflicts('erase'),
    )
    .option('--erase', 'erase what it stored as well: collections, logs, sequences and counters')
    .option('--yes', 'erase without asking')
    .action(later(async () => (await import('./removed.ts')).remove))
  changing(plugin.command('erase <name>'))
    .description('erase what a plugin that is gone has stored, and forget its settings')
    .option('--yes', 'erase without asking')
    .action(later(async () => (await import('./removed.ts')).erase))
  printing(plugin.command('list'))
    .description('what was installed')
    .action(later(async () => (await import('./installed.ts')).list))
  printing(plugin.command('info <name>'))
    .description('one installed plugin: version, integrity, permissions, what was there before')
    .action(later(async () => (await import('./installed.ts')).info))
  return plugin
}

function milliseconds(text: string): number {
  const { data, error } = duration(1).safeParse(text)
  if (data === undefined) throw new InvalidArgumentError(error!.issues[0]!.message)
  return data
}
