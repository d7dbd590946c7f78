import type { Cost, TokenCounting } from '../contract/models.ts'
import { addNano, mostCallUsd, nanoOf } from '../money.ts'
import type { Call } from './call.ts'
import type { Completion } from './canonical.ts'
import type { Counts, Ending, Rating, Served } from './outcome.ts'
import { mapReplyTexts } from './texts.ts'
import type { Attempt } from './trace.ts'
import { addUsage, believedUsage, fromWireUsage, noUsage, type Usage } from './usage.ts'

/**
 * Bills every attempt for everything that its provider reported and that can be true, and notes the part of each. An attempt whose
 * answer came without a report (the client left early, or another attempt had answered) is billed by a marked estimate; one
 * that failed without a report is not billed.
 */
export function billed(
  call: Call,
  served: Served,
  ending: Ending,
  { prices, tokens }: Rating,
  counts: Counts | undefined,
): { usage: Usage; cost: Cost | undefined } {
  let usage = noUsage
  let cost: Cost | undefined
  let priced = true
  for (const attempt of call.trace.attempts) {
    const answered = attempt.error === undefined && attempt.status !== undefined && attempt.status < 400
    const used =
      believedReport(attempt.usage) ??
      (answered ? estimated(call, served, ending, attempt, tokens, counts) : undefined)
    if (!used) continue
    usage = addUsage(usage, used)
    const part =
      reported(() => reportedCost(attempt.costUsd?.())) ??
      prices?.cost(attempt.provider, attempt.model, used, call.trace.startedAt)
    attempt.cost = part
    if (part) cost = cost ? addCost(cost, part) : part
    else priced = false
  }
  if (call.trace.attempts.length === 0) usage = wireUsageOf(served) ?? noUsage
  return { usage, cost: priced ? cost : undefined }
}

const believedReport = (read: Attempt['usage']): Usage | undefined => reported(() => believedUsage(read?.()))

/** The content of a provider's report; nothing when the report cannot be read. */
export function reported<T>(read: (() => T | undefined) | undefined): T | undefined {
  try {
    return read?.()
  } catch {
    return undefined
  }
}

/**
 * The tokens that the provider had counted before the answer was left; else the count of the model's tokenizer, or an estimate
 * by script. A chunk of a stream whose text is gone counts as one token. Marked as an estimate wherever it shows.
 */
function estimated(
  call: Call,
  served: Served,
  ending: Ending,
  attempt: Attempt,
  tokens: TokenCounting | undefined,
  counts: Counts | undefined,
): Usage | undefined {
  const isServed = call.trace.served === undefined || call.trace.served === attempt
  if (isServed && ending === 'upstream_error') return undefined
  const came = isServed ? (call.stream ? served.chunks : reported(served.body)) : reported(attempt.came)
  const chunks = typeof came === 'number' ? came : 0
  const counted = believedReport(attempt.counted)
  if (counted) return { ...counted, output: Math.max(counted.output, chunks), source: 'estimated' }
  const count = counts?.get(attempt.model)
  // The counts are of the answer that was served.
  if (count && isServed)
    return { ...noUsage, input: count.input, output: count.output || chunks, source: 'estimated' }
  if (!tokens) return undefined
  const request = call.trace.request ?? call.request
  const input = count?.input ?? tokens.estimate({ ...request, model: attempt.model }).tokens
  const output =
    typeof came === 'object' ? tokens.estimator(attempt.model).countAll(answerTexts(came)) : chunks
  return { ...noUsage, input, output, source: 'estimated' }
}

/** The texts of an answer, to be counted. */
export function answerTexts(body: Completion | undefined): string[] {
  const texts: string[] = []
  mapReplyTexts(body ?? {}, (text) => {
    texts.push(text)
    return text
  })
  return texts
}

function wireUsageOf({ body }: Served): Usage | undefined {
  const usage = body?.()?.usage
  return usage ? believedUsage(fromWireUsage(usage)) : undefined
}

/** The price that the answer from the cache would have had at its provider. */
export function saved(call: Call, served: Served, { prices }: Rating): Cost | undefined {
  const usage = wireUsageOf(served)
  const origin = call.trace.cached?.origin
  return usage && origin
    ? prices?.cost(origin.provider, origin.model, usage, call.trace.startedAt)
    : undefined
}

function addCost(a: Cost, b: Cost): Cost {
  return {
    totalNano: addNano(a.totalNano, b.totalNano),
    inputNano: addNano(a.inputNano, b.inputNano),
    outputNano: addNano(a.outputNano, b.outputNano),
    cacheNano: addNano(a.cacheNano, b.cacheNano),
    otherNano: addNano(a.otherNano, b.otherNano),
    priceId: b.priceId,
    source: a.source === b.source ? a.source : 'catalogue',
  }
}

/**
 * The cost as the provider itself reported it, in USD; it says nothing about classes. Undefined when there is none, or it
 * is none that a call can have.
 */
export function reportedCost(usd: number | undefined): Cost | undefined {
  if (typeof usd !== 'number' || !(usd >= 0 && usd <= mostCallUsd)) return undefined
  const totalNano = nanoOf(usd)
  return {
    totalNano,
    inputNano: 0,
    outputNano: 0,
    cacheNano: 0,
    otherNano: totalNano,
    priceId: 'provider',
    source: 'provider',
  }
}
