import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { Call } from '../call/call.ts'
import { guardedToken } from '../token.ts'

/** A target that a call may go to. `contract/routing.ts` says what else is known of it. */
export interface Candidate {
  readonly provider: string
  /** The model's name there. */
  readonly model: string
}

/** The hooks of modules for the places that a call may go to. */
export interface TargetHooks {
  /** Why the call may not go there, and which module says so. */
  refusal(target: Candidate, call: Call): { readonly module: string; readonly reason: string } | undefined
  /** How much modules prefer it, together. */
  preference(target: Candidate, call: Call): number
}

/** Knows where models are served. */
export interface Routing {
  /** Whether the gateway has a provider of this name. */
  isProvider(name: string): boolean
  /**
   * Where a call would go as it stands with `asker`, best first: what its caller can use, and modules let it. What pure modules of
   * the stage `route` behind the asker do to the call counts. Empty when nowhere.
   */
  targets(call: Call, asker?: string): Awaitable<readonly Candidate[]>
}

/** The kernel asks it what the names of models mean, and where calls may go. Offered with `Delivery`. */
export const Routing = guardedToken<Routing>('routing')
