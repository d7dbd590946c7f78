import type { Call } from '../kernel/call/call.ts'
import type { Routing as CallRouting, Candidate as Place } from '../kernel/contract/routing.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Capability } from './model-catalogue.ts'
import type { Rates } from './pricing.ts'

/** A target that a call may go to. An undefined field is unknown: never a guess. */
export interface Candidate extends Place {
  /** Most tokens of a prompt. */
  readonly window: number | undefined
  /** Whether the model has each capability; one that is missing here is unknown. */
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>
  readonly rates: Rates | undefined
  /** Where the provider runs models, in its own words: `eu`, `us-east-1`. */
  readonly region: string | undefined
  /** Whether the call stays on this machine or in its private network. */
  readonly local: boolean
}

/** Knows where models are served. */
export interface Routing extends CallRouting {
  /**
   * Where a call would go as it stands with `asker`, best first: what its caller can use, and modules let it. What pure modules of
   * the stage `route` behind the asker do to the call counts. Empty when nowhere.
   */
  targets(call: Call, asker?: string): Awaitable<readonly Candidate[]>
}

/** The token under which the kernel knows it too. */
export const Routing = guardedToken<Routing>('routing')
