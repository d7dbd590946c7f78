import { addUsage, believedUsage, fromWireUsage, noUsage, type Usage } from '../../kit/canonical/usage.ts'
import { addNano, mostCallUsd, nanoOf } from '../../kit/costs/money.ts'
import { readable } from '../../kit/readable.ts'
import type { Cost, Unreported } from '../contract/models.ts'
import type { Attempt } from './attempt.ts'
import type { Call } from './call.ts'
import { endingOf } from './ending.ts'
import type { Rating, Served } from './outcome.ts'

/** The usage and the cost of a call. */
export interface Bill {
  readonly usage: Usage
  /** Of the attempts whose price is known, with the number of the others that used something; undefined when none is. */
  readonly cost: Cost | undefined
  /** Attempts whose answers came without a report and are not on the bill; undefined where there are none. */
  readonly unreported: readonly Attempt[] | undefined
}

/**
 * Bills every attempt for everything that its provider reported and that can be true, and notes the part of each. An attempt whose
 * answer came without a report (the client left early, or another attempt had answered) is billed by its estimate, where there
 * is one; one that failed without a report is not billed.
 */
export function makeBill(
  call: Call,
  served: Served,
  prices: Rating['prices'],
  estimates?: ReadonlyMap<Attempt, Usage | undefined>,
): Bill {
  let usage = noUsage
  let cost: Cost | undefined
  let unpriced = 0
  let unreported: readonly Attempt[] | undefined
  for (const attempt of call.trace.attempts) {
    const used = believedReport(attempt.usage) ?? estimates?.get(attempt)
    if (!used) {
      if (hasAnswered(attempt, call, served)) unreported = [...(unreported ?? []), attempt]
      continue
    }
    usage = addUsage(usage, used)
    const part =
      readable(() => reportedCost(attempt.costUsd?.())) ??
      prices?.cost(attempt.provider, attempt.model, used, call.trace.startedAt)
    attempt.cost = part
    if (part) cost = cost ? addCost(cost, part) : part
    else if (used.input + used.output > 0) unpriced += 1
  }
  if (call.trace.attempts.length === 0) usage = wireUsageOf(served) ?? noUsage
  return { usage, cost: cost && unpriced > 0 ? { ...cost, unpriced } : cost, unreported }
}

const believedReport = (read: Attempt['usage']): Usage | undefined => readable(() => believedUsage(read?.()))

const isServed = ({ trace }: Call, attempt: Attempt): boolean =>
  trace.served === undefined || trace.served === attempt

/** Whether an attempt is to be billed although nothing was reported: an answer that broke off is not. */
function hasAnswered(attempt: Attempt, call: Call, served: Served): boolean {
  const { error, status } = attempt
  if (error !== undefined || status === undefined || status >= 400) return false
  return !isServed(call, attempt) || endingOf(served) !== 'upstream_error'
}

/** What is known of the answer of an attempt: for the one that was taken what was served, for others what they kept. */
export function answerOf(attempt: Attempt, call: Call, served: Served): Unreported {
  const { model } = attempt
  if (isServed(call, attempt)) {
    const chunks = call.stream ? served.chunks : undefined
    return { model, counted: countedOf(attempt, chunks), chunks, body: () => served.body?.() }
  }
  const came = readable(() => attempt.came?.()) ?? 0
  const [chunks, body] = typeof came === 'object' ? [undefined, came] : [came, undefined]
  return { model, counted: countedOf(attempt, chunks), chunks, body: () => body }
}

/** What the provider had counted before its last chunks came, which are a token each at least. */
function countedOf({ counted }: Attempt, chunks = 0): Usage | undefined {
  const usage = believedReport(counted)
  return usage && { ...usage, output: Math.max(usage.output, chunks), source: 'estimated' }
}

function wireUsageOf({ body }: Served): Usage | undefined {
  const usage = body?.()?.usage
  return usage ? believedUsage(fromWireUsage(usage)) : undefined
}

/** The price that the answer from the cache would have had at its provider. */
export function saved(call: Call, served: Served, prices: Rating['prices']): Cost | undefined {
  const usage = wireUsageOf(served)
  const origin = call.trace.cached?.origin
  return usage && origin && prices?.cost(origin.provider, origin.model, usage, call.trace.startedAt)
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
