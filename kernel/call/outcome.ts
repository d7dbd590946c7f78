import { z } from 'zod'
import type { Completion, FinishReason } from '../../kit/canonical/forms.ts'
import type { Usage } from '../../kit/canonical/usage.ts'
import type { GatewayError } from '../../kit/errors.ts'
import type { Cost, Pricing, TokenCounting } from '../contract/models.ts'
import { defineEvent } from '../events.ts'
import type { Call } from './call.ts'

/** How a call ended, which decides the bill. */
export type Ending =
  | 'ok'
  /** The answer was cut at its length limit. */
  | 'length'
  /** Refused for its content, on the way in or out. */
  | 'blocked'
  /** Refused for any other reason, before a provider was asked or after it answered: key, limit, bad request, a check of the answer. */
  | 'refused'
  | 'upstream_error'
  | 'client_abort'
  | 'timeout'
  | 'gateway_error'

/** The end of a call, emitted once for all modules and plugins that account for it: limits, budgets, traces, ledgers. */
export interface Outcome {
  readonly ending: Ending
  /** HTTP status sent; 499 when the client left before one was. */
  readonly status: number
  readonly error: GatewayError | undefined
  readonly usage: Usage
  /** Of all attempts whose price is known; undefined when none is. Each attempt in the trace has its own. */
  readonly cost: Cost | undefined
  /** The price that a cached answer would have had. */
  readonly saved: Cost | undefined
  readonly finishReason: FinishReason | undefined
  /** Provider and model that answered; where the call failed, those whose failure it ended with. */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly latencyMs: number
  /** To the first content byte. */
  readonly ttftMs: number | undefined
  /** Spent waiting for providers. */
  readonly upstreamMs: number
  /** The answer's body, parsed when asked for; undefined when there was none, it was not kept, or it cannot be read. */
  body(): Completion | undefined
  /** The same as JSON; the provider's own until a module changes it. */
  json(): string | undefined
}

const nothing = (): undefined => undefined

/** An outcome for plugins that may not read texts. */
export const withoutBody = (outcome: Outcome): Outcome => ({ ...outcome, body: nothing, json: nothing })

/** Emitted for every call when it has settled. */
export const CallSettled = defineEvent(
  'call.settled',
  z.custom<{ readonly outcome: Outcome; readonly call: Call }>(),
  { description: 'A call ended, successfully or not.' },
)

export const CallStarted = defineEvent('call.started', z.custom<{ readonly call: Call }>(), {
  description: 'A call was accepted.',
})

export const CallFirstContent = defineEvent('call.first_content', z.custom<{ readonly call: Call }>(), {
  description: 'The first content of an answer was sent to the client.',
})

/** The facts that the side that served the client knows at the end. */
export interface Served {
  readonly status: number
  /** The reason of its end, if there is one. */
  readonly error: unknown
  readonly finishReason: FinishReason | undefined
  /** Content chunks of a stream that reached the client. */
  readonly chunks: number
  readonly body: (() => Completion | undefined) | undefined
  /** The body as the provider wrote it, if no module has changed it. Neither of them throws. */
  readonly json?: (() => string | undefined) | undefined
}

/** The source of costs and usage of calls; nothing while no plugin offers it. */
export interface Rating {
  readonly prices: Pricing | undefined
  readonly tokens: TokenCounting | undefined
}
