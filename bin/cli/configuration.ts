import { type Config, ConfigError, loadConfig } from '../../config/config.ts'

/** EX_CONFIG of sysexits. */
export const badConfiguration = 78

/** The configuration; undefined when it is wrong, with every problem reported and the exit code set. */
export function configuration(): Config | undefined {
  try {
    return loadConfig({ env: process.env, cwd: process.cwd() })
  } catch (error) {
    refuseConfiguration(error)
    return undefined
  }
}

/** Tells what is wrong with a configuration, a line for each problem; anything else is thrown on. */
export function refuseConfiguration(error: unknown): void {
  if (!(error instanceof ConfigError)) throw error
  for (const problem of error.problems) console.error(problem)
  process.exitCode = badConfiguration
}
