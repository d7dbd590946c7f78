import { Command } from 'commander'
import { packageVersion } from '../version.ts'
import { start } from './start.ts'

/** The command line: terminal output is for people, `--json` for programs. */
export function createCli(): Command {
  const cli = new Command('switchyard')
    .description('A self-hosted, multi-user LLM gateway.')
    .version(packageVersion())
    .showHelpAfterError()
  cli.command('start', { isDefault: true }).description('run the gateway').action(start)
  return cli
}
