/** The failures that a module may have before it is left out. Durations are milliseconds. */
export interface CircuitLimits {
  /** Failures of one hook, within the window, that trip it; 0 for never. */
  readonly failures: number
  readonly window: number
  /** How long it is left out at first; twice as long after each probe that fails, up to twenty times. */
  readonly open: number
  /** Longest run of a hook that is not held against it. */
  readonly budget: number
  /** After so long a hook that has not answered counts as failed, and the call goes on without it. */
  readonly timeout: number
}

export const defaultLimits: CircuitLimits = {
  failures: 5,
  window: 60_000,
  open: 30_000,
  budget: 2_000,
  timeout: 60_000,
}
