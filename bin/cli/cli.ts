import { Command } from 'commander'
import { packageVersion } from '../../kernel/version.ts'
import { later } from './later.ts'
import { pluginCommand } from './plugin/command.ts'

/** The command line: terminal output is for people, `--json` for programs. */
export function createCli(): Command {
  const cli = new Command('switchyard')
    .description('A self-hosted, multi-user LLM gateway.')
    .version(packageVersion())
    .showHelpAfterError()
  cli
    .command('start', { isDefault: true })
    .description('run the gateway')
    .action(later(async () => (await import('./start.ts')).start))
  cli
    .command('doctor')
    .description('check the installation')
    .option('--check-providers', 'send a real request to each provider that has a key')
    .option('--repair', 'repair damage in the data folder; stop the gateway first')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./doctor.ts')).doctor))
  cli
    .command('backup')
    .argument('<folder>', 'folder for the copy; it must not exist yet')
    .description('make a consistent copy of the data folder, also while the gateway runs')
    .option('--no-encryption-key', 'leave out the folder secrets, which contains the encryption key')
    .option('--url <url>', 'URL of the gateway; by default the command finds it')
    .option('--key <key>', 'an admin key of the running gateway; by default SERVICE_ADMIN_KEY')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./backup.ts')).backup))
  cli
    .command('restore')
    .argument('<folder>', 'folder that backup has made')
    .description('replace the data folder with a backup; stop the gateway first')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./restore.ts')).restore))
  cli
    .command('modules')
    .description('list the modules')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./modules.ts')).modules))
  const catalogue = cli.command('catalogue').description('the known models, their limits and prices')
  catalogue
    .command('update')
    .argument('<file>', 'a catalogue of the gateway, LiteLLM or models.dev')
    .description('update the models from a file, and show what changes')
    .option('--dry-run', 'show what would change, and write nothing')
    .option('--force', 'write it even if most of the known models are missing from it')
    .option('--date <day>', 'the date of the data, such as 2026-11-21; by default the date of the file')
    .option('--source <text>', 'the source of the data; by default the name of its publisher')
    .option('--out <file>', 'file to write, instead of the data folder')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./catalogue.ts')).updateCatalogue))
  cli.addCommand(pluginCommand())
  return cli
}
