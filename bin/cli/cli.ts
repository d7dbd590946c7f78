import { Command } from 'commander'
import { packageVersion } from '../../gateway/version.ts'
import { nearestHint } from '../../kit/text/nearest.ts'
import { later } from './later.ts'
import { pluginCommand } from './plugin/command.ts'

/** The command line: terminal output is for people, `--json` for programs. */
export function createCli(): Command {
  const cli = new Command('switchyard')
    .description('A self-hosted, multi-user LLM gateway.')
    .version(packageVersion())
    .showHelpAfterError()
    .hook('preSubcommand', refuseUnknown)
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
  cli.addCommand(configCommand())
  cli.addCommand(licenseCommand())
  cli.addCommand(pluginCommand())
  return cli
}

/** A start is also what no command means, so a misspelt one would be told of as an argument of it. */
function refuseUnknown(cli: Command): void {
  const [name] = cli.args
  const names = cli.commands.map((command) => command.name())
  if (name === undefined || name.startsWith('-') || name === 'help' || names.includes(name)) return
  cli.error(`error: unknown command '${name}'${nearestHint(name, names)}. These are the commands:`)
}

/** What is set at runtime of a running gateway, as a document to keep in version control. */
function configCommand(): Command {
  const config = new Command('config').description('what is set at runtime: snapshots of a running gateway')
  const command = (name: string, description: string): Command =>
    config
      .command(name)
      .description(description)
      .option('--url <url>', 'URL of the gateway; by default the command finds it')
      .option('--key <key>', 'an admin key of the gateway; by default SERVICE_ADMIN_KEY')
  command('export', 'print a snapshot')
    .option('--sections <names>', 'names of sections with commas between them; all by default')
    .action(later(async () => (await import('./snapshots.ts')).exportSnapshot))
  command('diff', 'say how a snapshot differs from what is set; ends with 2 if it does')
    .requiredOption('-f, --file <file>', 'a snapshot, as JSON or YAML')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./snapshots.ts')).diffSnapshot))
  command('apply', 'take a snapshot in, as one generation or not at all')
    .requiredOption('-f, --file <file>', 'a snapshot, as JSON or YAML')
    .option('--replace', 'clear what the sections of the snapshot do not have')
    .option('--dry-run', 'check everything, and change nothing')
    .option('--if-generation <n>', 'only if the configuration is at this generation', Number)
    .option('--force', 'even if it shuts the caller out')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./snapshots.ts')).applySnapshot))
  return config
}

/** For whoever issues licenses to others, and for those who have one. */
function licenseCommand(): Command {
  const license = new Command('license').description('licenses: tokens that are verified without a network')
  license
    .command('keys')
    .argument('<file>', 'file for the private key; it must not exist yet')
    .description('make the key pair that licenses are signed and verified with')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./license.ts')).licenseKeys))
  license
    .command('issue')
    .description('print a license')
    .requiredOption('--key <file>', 'the private key')
    .requiredOption('--to <name>', 'who may use it')
    .requiredOption('--tier <tier>', 'free, individual, pro, team or enterprise')
    .option('--days <n>', 'how long it is valid; without an end by default')
    .option('--requests <n>', 'requests a month; any number by default')
    .option('--users <n>', 'users; any number by default')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./license.ts')).issue))
  license
    .command('check')
    .argument('[token]', 'the license; by default the configured one')
    .description('verify a license')
    .option('--public-key <key>', 'the public key; by default license.public_key')
    .option('--json', 'for programs')
    .action(later(async () => (await import('./license.ts')).check))
  return license
}
