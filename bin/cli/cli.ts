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
    .description('check everything that a start needs')
    .option('--check-providers', 'send a real request to each provider that has a key')
    .option('--repair', 'repair what is damaged in the data folder; stop the gateway first')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./doctor.ts')).doctor))
  cli
    .command('backup')
    .argument('<folder>', 'where the copy goes; it must not be there yet')
    .description('copy the data folder as it is at one moment, also while the gateway runs')
    .option('--no-encryption-key', 'leave the folder secrets out, which holds the encryption key')
    .option('--url <url>', 'where the gateway listens, when it is not found by itself')
    .option('--key <key>', 'an admin key of the running gateway; SERVICE_ADMIN_KEY without it')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./backup.ts')).backup))
  cli
    .command('restore')
    .argument('<folder>', 'what backup has made')
    .description('put a backup into the data folder; stop the gateway first')
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
    .option('--out <file>', 'where to write it, instead of the data folder')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./catalogue.ts')).updateCatalogue))
  cli.addCommand(pluginCommand())
  return cli
}
