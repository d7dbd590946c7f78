import type { Call } from '../call/call.ts'
import { over } from '../call/cancel.ts'
import { CallSettled, type Outcome } from '../call/outcome.ts'
import { countsOf, outcomeOf, type Rating, type Served } from '../call/settle.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Generation } from '../plugin/generation.ts'

/** What settling calls takes. */
export interface SettlementParts {
  readonly events: Events
  readonly log: Log
}

/** Everything that follows an answer: the client has its last byte already. Never rejects. */
export async function settle(
  call: Call,
  served: Served,
  { chain, rating }: Generation,
  parts: SettlementParts,
): Promise<void> {
  try {
    const first = outcomeOf(call, served, rating)
    const outcome =
      first.usage.source === 'estimated' ? await recounted(first, call, served, rating, parts.log) : first
    const told = chain.settled(outcome, call)
    if (told) await told
    parts.events.emit(CallSettled, { outcome, call })
  } catch (error) {
    parts.log.error({ err: error, request_id: call.id }, 'a call could not be settled')
  }
  call.cancel.abort(over)
}

/** An estimate, made better by the tokenizers of the models where they have one. */
async function recounted(
  first: Outcome,
  call: Call,
  served: Served,
  rating: Rating,
  log: Log,
): Promise<Outcome> {
  try {
    const counts = rating.tokens && (await countsOf(call, served, rating.tokens))
    if (!counts?.size) return first
    const { usage, cost } = outcomeOf(call, served, rating, counts)
    return { ...first, usage, cost }
  } catch (error) {
    log.error({ err: error, request_id: call.id }, 'the tokens of a call could not be counted')
    return first
  }
}
