/** Everything that is wrong with the configuration, at once: one readable line each, without secrets. */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}
