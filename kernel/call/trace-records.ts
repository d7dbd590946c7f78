import type { Condition } from '../../kit/calls/when.ts'

/** The effect of a module on a call: only an effect worth a record, not every pass. */
export interface Note {
  readonly module: string
  readonly verdict: string
  /** Facts for the trace: never the text that was found. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** Of a module in shadow: what it would have done, and did not. */
  readonly mode?: 'shadow'
}

/** A choice made on the way: of a route, a limit, a budget. */
export interface Decision {
  readonly kind: string
  readonly chosen: string
  readonly reason: string
  readonly considered?: readonly string[]
}

/** Time spent in one hook of one module, in milliseconds. */
export interface Timing {
  readonly module: string
  readonly hook: string
  ms: number
}

/** A module that a call passed by, and the first condition of its `when` that was not met. */
export interface Skip {
  readonly module: string
  readonly condition: Condition
}

/** A request or an answer, and what a module replaced it with. Both are kept unchanged for a comparison. */
export interface Rewrite {
  readonly module: string
  readonly of: 'request' | 'reply'
  readonly before: object
  readonly after: object
}

/** An answer that was not asked for, because it was there. */
export interface Cached {
  readonly kind: 'exact' | 'semantic'
  readonly ageS: number
  readonly similarity?: number
  /** The provider and model that gave it first. */
  readonly origin?: { readonly provider: string; readonly model: string } | undefined
}
