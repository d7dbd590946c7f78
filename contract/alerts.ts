import { token } from '../kernel/token.ts'

/** How alert rules are evaluated. */
export interface PulseSettings {
  /** Milliseconds between two evaluations. */
  readonly everyMs: number
  /** The pause between two firings where a rule says none, in ms; undefined for the length of the rule's window. */
  readonly cooldownMs: number | undefined
  /** How many groups of a rule are told apart. */
  readonly mostGroups: number
}

/** The switch of the alerts: while no plugin offers it, or it has no settings, no rule is evaluated. */
export interface AlertPulse {
  settings(): PulseSettings | undefined
}

export const AlertPulse = token<AlertPulse>('alert-pulse')
