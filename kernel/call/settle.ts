import { mapReplyTexts } from '../chain/texts.ts'
import { ClientGone, type GatewayError, isUpstreamError, toGatewayError } from '../errors.ts'
import { type Cost, type Prices, reportedCost } from '../prices.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import { estimatorOf } from '../tokens/estimate.ts'
import { countRequest } from '../tokens/request.ts'
import type { Call } from './call.ts'
import type { Completion, FinishReason } from './canonical.ts'
import type { Ending, Outcome } from './outcome.ts'
import type { Attempt } from './trail.ts'
import { addUsage, fromWireUsage, noUsage, type Usage } from './usage.ts'

/** What the side that served the client knows at the end. */
export interface Served {
  readonly status: number
  /** What ended it, if anything did. */
  readonly error: unknown
  readonly finishReason: FinishReason | undefined
  /** Content chunks of a stream that reached the client. */
  readonly chunks: number
  readonly body: (() => Completion | undefined) | undefined
  /** The body as the provider wrote it, where nobody has changed it. */
  readonly json?: (() => string | undefined) | undefined
}

/** Tokens of a call's request and of its answer, by the names of the models that were asked. */
export type Counts = ReadonlyMap<string, { readonly input: number; readonly output: number }>

/**
 * What the published tokenizers say of a call, for the models that have one. It takes a while, so only ask where an
 * outcome turned out to be an estimate.
 */
export async function countsOf(call: Call, served: Served, counter: TokenCounter): Promise<Counts> {
  const models = [...new Set(call.trail.attempts.map(({ model }) => model))].filter((model) =>
    counter.knows(model),
  )
  const request = call.trail.request ?? call.request
  const texts = models.length === 0 ? [] : answerTexts(reported(served.body))
  const counted = models.map(async (model) => {
    const { input, output } = await counter.count({ ...request, model }, texts)
    return [model, { input: input.tokens, output }] as const
  })
  return new Map(await Promise.all(counted))
}

/**
 * The outcome of a call: what it used and cost, over all its attempts, and who is to blame. What no provider has
 * reported is estimated, by counts where they are given.
 */
export function outcomeOf(call: Call, served: Served, prices: Prices, counts?: Counts): Outcome {
  const { trail } = call
  const now = performance.now()
  const error =
    served.error === undefined || served.error instanceof ClientGone
      ? undefined
      : toGatewayError(served.error)
  const ending = endingOf(served, error)
  const last = trail.attempts.at(-1)
  const { usage, cost } = billed(call, served, ending, prices, counts)
  const { body, json } = served
  return {
    ending,
    status: served.status,
    error,
    usage,
    cost,
    saved: trail.cached ? saved(call, served, prices) : undefined,
    finishReason: served.finishReason,
    provider: last?.provider,
    model: last?.model,
    latencyMs: now - trail.started,
    ttftMs: trail.firstContentAt === undefined ? undefined : trail.firstContentAt - trail.started,
    upstreamMs: waitedMs(trail.attempts, now),
    body: () => body?.(),
    json: () => json?.() ?? written(body?.()),
  }
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

/**
 * What is billed: everything a provider reported, for every attempt. An attempt whose answer was read by the client
 * without a report (it left early) is billed by a marked estimate; one that failed without a report is not billed.
 */
function billed(
  call: Call,
  served: Served,
  ending: Ending,
  prices: Prices,
  counts: Counts | undefined,
): { usage: Usage; cost: Cost | undefined } {
  let usage = noUsage
  let cost: Cost | undefined
  let priced = true
  for (const attempt of call.trail.attempts) {
    const answered = attempt.error === undefined && attempt.status !== undefined && attempt.status < 400
    const used =
      reported(attempt.usage) ?? (answered ? estimated(call, served, ending, attempt, counts) : undefined)
    if (!used) continue
    usage = addUsage(usage, used)
    const said = reported(attempt.costUsd)
    const part =
      said === undefined
        ? prices.cost(attempt.provider, attempt.model, used, call.trail.startedAt)
        : reportedCost(said)
    if (part) cost = cost ? addCost(cost, part) : part
    else priced = false
  }
  if (call.trail.attempts.length === 0) usage = wireUsageOf(served) ?? noUsage
  return { usage, cost: priced ? cost : undefined }
}

/** What a provider's report says; nothing when the report cannot be read. */
function reported<T>(read: (() => T | undefined) | undefined): T | undefined {
  try {
    return read?.()
  } catch {
    return undefined
  }
}

/**
 * What the provider had counted before the answer was left; else what the model's tokenizer says, or an estimate by its
 * script. One token a chunk of a stream whose text is gone. Marked as an estimate wherever it shows.
 */
function estimated(
  call: Call,
  served: Served,
  ending: Ending,
  attempt: Attempt,
  counts: Counts | undefined,
): Usage | undefined {
  if (ending === 'upstream_error') return undefined
  const counted = reported(attempt.counted)
  if (counted) return { ...counted, output: Math.max(counted.output, served.chunks), source: 'estimated' }
  const count = counts?.get(attempt.model)
  if (count) {
    const output = count.output || (call.stream ? served.chunks : 0)
    return { ...noUsage, input: count.input, output, source: 'estimated' }
  }
  const request = call.trail.request ?? call.request
  const estimator = estimatorOf(attempt.model)
  return {
    ...noUsage,
    input: countRequest({ ...request, model: attempt.model }, estimator).tokens,
    output: call.stream ? served.chunks : estimator.countAll(answerTexts(reported(served.body))),
    source: 'estimated',
  }
}

function answerTexts(body: Completion | undefined): string[] {
  const texts: string[] = []
  mapReplyTexts(body ?? {}, (text) => {
    texts.push(text)
    return text
  })
  return texts
}

function wireUsageOf({ body }: Served): Usage | undefined {
  const usage = body?.()?.usage
  return usage ? fromWireUsage(usage) : undefined
}

/** What the answer from the cache would have cost at its provider. */
function saved(call: Call, served: Served, prices: Prices): Cost | undefined {
  const usage = wireUsageOf(served)
  const origin = call.trail.cached?.origin
  return usage && origin ? prices.cost(origin.provider, origin.model, usage, call.trail.startedAt) : undefined
}

function addCost(a: Cost, b: Cost): Cost {
  return {
    totalNano: a.totalNano + b.totalNano,
    inputNano: a.inputNano + b.inputNano,
    outputNano: a.outputNano + b.outputNano,
    cacheNano: a.cacheNano + b.cacheNano,
    otherNano: a.otherNano + b.otherNano,
    priceId: b.priceId,
    source: a.source === b.source ? a.source : 'catalogue',
  }
}
