import { type Call, type Candidate, noUsage, type Pricing } from '#kernel'
import { expectedTokens, usdOf } from '#kit'

/** What a call is expected to cost at a place, in USD; undefined where no price is known. */
export function expectedCost(
  call: Call,
  { provider, model }: Candidate,
  prices: Pricing | undefined,
): number | undefined {
  const usage = { ...noUsage, ...expectedTokens(call), source: 'estimated' as const }
  const cost = prices?.cost(provider, model, usage)
  return cost && usdOf(cost.totalNano)
}
