import type { Call } from '../kernel/call/call.ts'
import { token } from '../kernel/token.ts'

/** Why what a model asks for in a call is not to be trusted. */
export interface Taint {
  /** What the suspect text is: a tool's result, or a passage that a module has brought into the call. */
  readonly from: 'tool' | 'retrieved'
  /** How much it looks like instructions to the model, from 0 to 1. */
  readonly score: number
}

/** Which calls hold text of others that looks like instructions to the model. */
export interface CallTaint {
  /** The worst so far; undefined for a call without such text. Known once the stage `inspect` has seen the request. */
  of(call: Call): Taint | undefined
}

/** Offered by the module that looks for injected instructions; from memory, for later modules of the call. */
export const CallTaint = token<CallTaint>('call-taint')
