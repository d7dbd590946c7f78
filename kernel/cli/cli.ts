import { Command } from 'commander'
import { packageVersion } from '../version.ts'
import { doctor } from './doctor.ts'
import { modules } from './modules.ts'
import { start } from './start.ts'

/** The command line: terminal output is for people, `--json` for programs. */
export function createCli(): Command {
  const cli = new Command('switchyard')
    .description('A self-hosted, multi-user LLM gateway.')
    .version(packageVersion())
    .showHelpAfterError()
  cli.command('start', { isDefault: true }).description('run the gateway').action(start)
  cli
    .command('doctor')
    .description('look at everything a start needs and say what is wrong')
    .option('--check-providers', 'really ask the providers that have keys')
    .option('--json', 'for programs')
    .action(doctor)
  cli.command('modules').description('list the modules').option('--json', 'for programs').action(modules)
  return cli
}
