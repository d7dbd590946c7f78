import type { AutopilotRoute } from '#kernel'

/** Where a model is served. */
export interface Place {
  readonly provider: string
  readonly model: string
}

/** A route with what its decision is recorded by. */
export interface Chosen extends AutopilotRoute {
  readonly requested: string
  readonly reason: string
  /** Undefined for the reference model until it was asked, where no other one was considered. */
  readonly place: Place | undefined
  /** Where the reference model would have answered. */
  readonly baseline: Place | undefined
  /** Of the chosen model; 1 for the reference model. */
  readonly quality: number
  readonly estimateNano: number | undefined
  readonly baselineNano: number | undefined
  readonly isCapped: boolean
  /** Whether it is a decision of autopilot, and not of its being off. */
  readonly isCounted: boolean
}
