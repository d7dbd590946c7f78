import { guardedToken } from '../kernel/token.ts'

/**
 * What is unusual. `call`: one call, beside those before it. `rate`: how many calls came, or failed, in a few minutes. `drift`: the
 * answers of a model over many calls.
 */
export const anomalyKinds = ['call', 'rate', 'drift'] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

export const anomalySeverities = ['info', 'warning', 'critical'] as const
export type AnomalySeverity = (typeof anomalySeverities)[number]

/** One figure that is unusual. */
export interface AnomalyDimension {
  /** With its unit, such as `latency_ms`. */
  readonly metric: string
  /** Whose figures it is compared with. */
  readonly by: 'model' | 'user' | 'template'
  readonly expected: number
  readonly actual: number
  /** In the unit of the method: for medians, how many spreads it lies away. */
  readonly score: number
  readonly method: 'median/MAD' | 'seasonal median/MAD' | 'PSI'
}

/** Something unusual that a module found. */
export interface FoundAnomaly {
  readonly kind: AnomalyKind
  readonly severity: AnomalySeverity
  /** What it happened to; the user sees the dimensions by user. */
  readonly scope: {
    readonly model?: string | undefined
    readonly provider?: string | undefined
    readonly user?: string | undefined
    readonly project?: string | undefined
    readonly template?: string | undefined
  }
  /** At least one, the most unusual first. */
  readonly dimensions: readonly [AnomalyDimension, ...AnomalyDimension[]]
  /** Calls that show it; ten are kept. */
  readonly traces: readonly string[]
}

/** Keeps what is unusual, shows it, and tells those who listen. */
export interface Anomalies {
  /** Resolves with its id when it is on disk, with its event. */
  record(found: FoundAnomaly): Promise<string>
  /** Says that so many calls more showed the same; nothing when the record is not there any more. */
  repeat(id: string, count: number, traces: readonly string[]): Promise<void>
}

export const Anomalies = guardedToken<Anomalies>('anomalies')
