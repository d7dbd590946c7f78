import type { Attempt } from '../kernel/call/attempt.ts'
import type { Call } from '../kernel/call/call.ts'
import { token } from '../kernel/token.ts'

/** What goes wrong with an attempt on purpose. Times in milliseconds. */
export type Fault =
  /** The answer begins so much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The provider answers with this error, and is not asked. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterS?: number | undefined }
  /** The connection breaks before there is an answer, and the provider is not asked. */
  | { readonly kind: 'reset' }
  /** The connection breaks after so many bytes of the body, or at its end. */
  | { readonly kind: 'truncated'; readonly afterBytes: number }
  /** The JSON of the body lacks its closing braces. */
  | { readonly kind: 'malformed' }
  /** The body comes in pieces of so many bytes, with a gap before each. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly gapMs: number }

/** Delivery asks it for each attempt at a provider, after the modules have let the attempt pass. */
export interface Faults {
  of(attempt: Attempt, call: Call): Fault | undefined
}

/** Offered while faults are injected. Without it nothing is. */
export const Faults = token<Faults>('faults')
