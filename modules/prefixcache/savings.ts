import type { Attempt, Pricing } from '#kernel'
import { usdOf } from '#kit'

/** What a provider's prompt cache did for a call, for its trace. */
export interface Savings {
  readonly cached_tokens: number
  readonly written_tokens: number
  /** Below zero where writing cost more than reading saved; absent for a model without a price. */
  readonly saved_usd?: number
}

/** Compares what an attempt cost with its cost if nothing had been cached; undefined where nothing was. */
export function savingsOf(attempt: Attempt, prices: Pricing | undefined, at: number): Savings | undefined {
  const usage = attempt.usage?.()
  if (!usage) return undefined
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  if (usage.cachedRead + written === 0) return undefined
  const bare = { ...usage, cachedRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  const full = prices?.cost(attempt.provider, attempt.model, bare, at)
  return {
    cached_tokens: usage.cachedRead,
    written_tokens: written,
    ...(full && attempt.cost && { saved_usd: usdOf(full.totalNano - attempt.cost.totalNano) }),
  }
}
