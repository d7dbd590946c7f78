import type { TokenCounting } from '../contract/models.ts'
import { ClientGone, type GatewayError, isUpstreamError, toGatewayError } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import { answerTexts, billed, reported, saved } from './bill.ts'
import type { Call } from './call.ts'
import { over } from './cancel.ts'
import type { Completion, FinishReason } from './canonical.ts'
import {
  CallSettled,
  type Counts,
  type Ending,
  type Outcome,
  type Rating,
  type Served,
  withoutBody,
} from './outcome.ts'
import type { Attempt } from './trace.ts'

/** The parts that settling calls takes. */
export interface SettlementParts {
  readonly events: Pick<Events, 'emit'>
  readonly log: Log
}

/** The arrangement that a call ran on, which it is settled with. */
interface Settling {
  readonly chain: { settled(outcome: Outcome, call: Call): void | Promise<void> }
  readonly rating: Rating
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
    const first = outcomeOf(call, served, rating)
    outcome =
      first.usage.source === 'estimated' ? await recounted(first, call, served, rating, parts.log) : first
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

/**
 * The counts of the published tokenizers for a call, for the models that have one. Counting takes a while, so only ask where an
 * outcome turned out to be an estimate.
 */
async function countsOf(call: Call, served: Served, counter: TokenCounting): Promise<Counts> {
  const models = [...new Set(call.trace.attempts.map(({ model }) => model))].filter((model) =>
    counter.knows(model),
  )
  const request = call.trace.request ?? call.request
  const texts = models.length === 0 ? [] : answerTexts(reported(served.body))
  const counted = models.map(async (model) => {
    const { input, output } = await counter.count({ ...request, model }, texts)
    return [model, { input: input.tokens, output }] as const
  })
  return new Map(await Promise.all(counted))
}

/**
 * The outcome of a call: its usage and cost over all attempts, and the party to blame. Usage that no provider has reported is
 * estimated, by counts where they are given.
 */
export function outcomeOf(call: Call, served: Served, rating: Rating, counts?: Counts): Outcome {
  const { trace } = call
  const now = performance.now()
  const error =
    served.error === undefined || served.error instanceof ClientGone
      ? undefined
      : toGatewayError(served.error)
  const ending = endingOf(served, error)
  const last =
    trace.attempts.find((one) => one.error && one.error === error) ?? trace.served ?? trace.attempts.at(-1)
  const { usage, cost } = billed(call, served, ending, rating, counts)
  const { body, json } = served
  let text: string | undefined
  return {
    ending,
    status: served.status,
    error,
    usage,
    cost,
    saved: trace.cached ? saved(call, served, rating) : undefined,
    finishReason: wordOf(served.finishReason),
    provider: last?.provider,
    model: last?.model,
    latencyMs: now - trace.started,
    ttftMs: trace.firstContentAt === undefined ? undefined : trace.firstContentAt - trace.started,
    upstreamMs: waitedMs(trace.attempts, now),
    body: () => body?.(),
    json: () => (text ??= json?.() ?? written(body?.())),
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

function endingOf({ error: thrown, finishReason }: Served, error: GatewayError | undefined): Ending {
  if (thrown instanceof ClientGone) return 'client_abort'
  if (!error)
    return finishReason === 'length' ? 'length' : finishReason === 'content_filter' ? 'blocked' : 'ok'
  if (error.type === 'content_blocked') return 'blocked'
  if (error.type === 'timeout') return 'timeout'
  if (error.code === 'internal_error' || error.type === 'module_tripped') return 'gateway_error'
  return isUpstreamError(error) ? 'upstream_error' : 'refused'
}
