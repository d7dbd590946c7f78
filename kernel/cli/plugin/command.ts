import { Command, Option } from 'commander'
import { check } from './check.ts'
import { create } from './new.ts'
import { addPackageCommands } from './packages.ts'

/** `switchyard plugin …`: what is done with plugins from outside a gateway. */
export function pluginCommand(): Command {
  const plugin = new Command('plugin').description('write, check and install plugins').showHelpAfterError()
  plugin
    .command('check <folder>')
    .description('run the plugin in a folder through the conformance kit')
    .option('--json', 'for programs')
    .action(check)
  plugin
    .command('new <name>')
    .description('write a folder with a plugin that works, to begin with')
    .addOption(
      new Option('--kind <kind>', 'what it is').choices(['module', 'area', 'provider']).default('module'),
    )
    .option('--dir <folder>', 'where its folder goes', '.')
    .action(create)
  addPackageCommands(plugin)
  return plugin
}
