import type { Call } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Candidate } from './routing.ts'

/** The model that a call goes to. Whoever made it knows more of it: hand it back as it came. */
export interface AutopilotRoute {
  readonly model: string
  /** The model to ask when that one fails; undefined where there is no other. */
  readonly fallback: string | undefined
}

export interface AutopilotOptions {
  /** Where the call could go as it stands. */
  readonly targets: (call: Call) => Promise<readonly Candidate[]>
  /** The model that answers while autopilot is off and has no reference model. */
  readonly otherwise: string | undefined
}

/** How the call went at the model that it was routed to. */
export interface AutopilotEnd {
  readonly outcome: Outcome
  /** Whether the model failed, so that its fallback was asked. */
  readonly fellBack: boolean
}

/** How far autopilot is set up. */
export interface AutopilotStanding {
  readonly isOn: boolean
  /** Models that have a score. */
  readonly modelsCalibrated: number
}

/** Routes calls to the model that suits a mode best, of those that were shown to be as good as a reference model. */
export interface Autopilot {
  /** Whether `route` counts nothing and asks nobody, so that a call that is not made can be explained. */
  readonly isPure: boolean
  /** As it is now. */
  readonly standing: AutopilotStanding
  /**
   * Where a call goes that asks for autopilot or for the reference model; undefined for others, at once. Throws a not found that
   * says what to set where no reference model is known.
   */
  route(call: Call, options: AutopilotOptions): Awaitable<AutopilotRoute | undefined>
  /** The value that answers to such a call differ by; undefined for others. */
  varies(call: Call): string | undefined
  /** Takes in how a routed call ended, once. */
  settled(call: Call, route: AutopilotRoute, end: AutopilotEnd): void
}

/** Offered by the area `autopilot`. */
export const Autopilot = guardedToken<Autopilot>('autopilot')
