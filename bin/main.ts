import { createCli } from './cli/cli.ts'

await createCli().parseAsync()
