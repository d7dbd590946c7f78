import { guardedToken } from '../kernel/token.ts'

/** Something that past calls say. Evidence is figures, names and ids of traces: never texts of calls. */
export interface InsightRecord {
  /** The same as long as it is about the same thing. */
  readonly id: string
  readonly type: string
  readonly severity: 'high' | 'medium' | 'low'
  readonly title: string
  readonly description: string
  readonly evidence: Readonly<Record<string, unknown>>
  /** What the analyzed calls would have cost less, in USD; 0 where that is not known. */
  readonly est_savings_usd: number
}

export interface InsightReport {
  /** Those that save most come first. */
  readonly all: readonly InsightRecord[]
  readonly traces_analyzed: number
  /** Whether these were all traces of the time. */
  readonly complete: boolean
}

/** Analyses of past calls. */
export interface Insights {
  /** Of a user's calls, or of all; of so many days. An analysis is kept for a minute. */
  of(userId: string | undefined, days: number): Promise<InsightReport>
}

/** Offered by the area `insights`. */
export const Insights = guardedToken<Insights>('insights')
