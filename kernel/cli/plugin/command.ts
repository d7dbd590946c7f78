import { Command } from 'commander'
import { check } from './check.ts'
import { addPackageCommands } from './packages.ts'

/** `switchyard plugin …`: what is done with plugins from outside a gateway. */
export function pluginCommand(): Command {
  const plugin = new Command('plugin').description('write, check and install plugins').showHelpAfterError()
  plugin
    .command('check <folder>')
    .description('run the plugin in a folder through the conformance kit')
    .option('--json', 'for programs')
    .action(check)
  addPackageCommands(plugin)
  return plugin
}
