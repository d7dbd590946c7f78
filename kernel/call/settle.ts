import type { Completion, FinishReason } from '../../kit/canonical/forms.ts'
import type { Usage } from '../../kit/canonical/usage.ts'
import { over } from '../../kit/work/cancel.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Attempt } from './attempt.ts'
import { answerOf, type Bill, makeBill, saved } from './bill.ts'
import type { Call } from './call.ts'
import { endingOf, errorOf } from './ending.ts'
import { CallSettled, type Outcome, type Rating, type Served, withoutBody } from './outcome.ts'

/** The parts that settling calls takes. */
export interface SettlementParts {
  readonly events: Pick<Events, 'emit'>
  readonly log: Log
}

/** The part of the arrangement that a call ran on which it is settled with. */
export interface Settling {
  readonly chain: { settled(outcome: Outcome, call: Call): void | Promise<void> }
  readonly rating: Rating
  /** Whether only the caller may see its texts: they may be older than the guards' changes. */
  readonly isPrivate?: boolean
}

/** Everything that follows an answer: the client has its last byte already. Never rejects; undefined when it failed. */
export async function settle(
  call: Call,
  served: Served,
  { chain, rating, isPrivate = false }: Settling,
  parts: SettlementParts,
): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined
  try {
    const bill = makeBill(call, served, rating.prices)
    outcome = outcomeOf(call, served, rating, bill)
    if (bill.unreported) outcome = await estimated(outcome, bill.unreported, call, served, rating, parts.log)
    if (isPrivate) call.trace.mayRecord(undefined)
    const settling = chain.settled(outcome, call)
    if (settling) await settling
    const settled = isPrivate ? { outcome: withoutBody(outcome), call: call.redacted } : { outcome, call }
    parts.events.emit(CallSettled, settled, { cause: call })
  } catch (error) {
    parts.log.error({ err: error, request_id: call.id }, 'a call could not be settled')
  }
  call.cancel.abort(over)
  return outcome
}

/** The same with estimates of what attempts used whose providers did not say. Where nothing counts tokens, only what these had counted. */
async function estimated(
  first: Outcome,
  unreported: readonly Attempt[],
  call: Call,
  served: Served,
  { prices, tokens }: Rating,
  log: Log,
): Promise<Outcome> {
  const answers = unreported.map((attempt) => answerOf(attempt, call, served))
  let used: readonly (Usage | undefined)[] = answers.map(({ counted }) => counted)
  try {
    if (tokens) used = await tokens.used(call.trace.request ?? call.request, answers)
  } catch (error) {
    log.error({ err: error, request_id: call.id }, 'the tokens of a call could not be counted')
  }
  const { usage, cost } = makeBill(call, served, prices, new Map(unreported.map((one, i) => [one, used[i]])))
  return { ...first, usage, cost }
}

/** The outcome of a call: its usage and cost over all attempts, as its bill says, and the party to blame. */
export function outcomeOf(call: Call, served: Served, { prices }: Rating, { usage, cost }: Bill): Outcome {
  const { trace } = call
  const now = performance.now()
  const error = errorOf(served)
  const last =
    trace.attempts.find((one) => one.error && one.error === error) ?? trace.served ?? trace.attempts.at(-1)
  let text: string | undefined
  return {
    ending: endingOf(served, error),
    status: served.status,
    error,
    usage,
    cost,
    saved: trace.cached ? saved(call, served, prices) : undefined,
    finishReason: wordOf(served.finishReason),
    provider: last?.provider,
    model: last?.model,
    latencyMs: now - trace.started,
    ttftMs: trace.firstContentAt === undefined ? undefined : trace.firstContentAt - trace.started,
    upstreamMs: waitedMs(trace.attempts, now),
    body: () => served.body?.(),
    json: () => (text ??= served.json?.() ?? written(served.body?.())),
  }
}

/** Longer ones are no reasons. */
const longestReason = 100

/** The reason a provider gave, which can be anything it sent: one that is no word is none. */
function wordOf(reason: unknown): FinishReason | undefined {
  const isWord = typeof reason === 'string' && reason !== '' && reason.length <= longestReason
  return isWord ? (reason as FinishReason) : undefined
}

/**
 * Time in which at least one attempt was under way: those that race each other are not added up, and one that was cut
 * off lasted until now.
 */
function waitedMs(attempts: readonly Attempt[], now: number): number {
  let waited = 0
  let until = Number.NEGATIVE_INFINITY
  for (const { startedAt, latencyMs = now - startedAt } of attempts) {
    const end = startedAt + latencyMs
    waited += Math.max(0, end - Math.max(startedAt, until))
    until = Math.max(until, end)
  }
  return waited
}

const written = (body: Completion | undefined): string | undefined => body && JSON.stringify(body)
