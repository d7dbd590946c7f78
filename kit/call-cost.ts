import type { TokenCounting } from '../contract/token-counting.ts'
import type { Call } from '../kernel/call/call.ts'
import { noUsage } from '../kernel/call/usage.ts'
import type { Pricing } from '../kernel/contract/models.ts'
import type { Candidate } from '../kernel/contract/routing.ts'
import { answerCount } from './answer-count.ts'
import { tokenLimit } from './token-limit.ts'

/** Tokens of an answer that has no limit, where nothing more is known of its model. */
const typicalAnswer = 256

/** What a call is expected to cost at one place. */
export interface CostEstimate {
  /** Nano-dollars; what is not known costs nothing. */
  readonly nano: number
  /** The provider and model that it is for. */
  readonly target: string
  /** Whether price and length are known, so that the call costs no more than this, as far as its prompt was counted well. */
  readonly isWhole: boolean
}

/** What a call would cost at a place: its prompt, estimated, and as long an answer as it may have. */
export function estimateCost(
  call: Call,
  { provider, model }: Pick<Candidate, 'provider' | 'model'>,
  { prices, tokens }: { readonly prices: Pricing; readonly tokens: TokenCounting },
): CostEstimate {
  const { operation, request } = call
  const limit = operation === 'embedding' ? 0 : tokenLimit(request)
  const output = (limit ?? typicalAnswer) * answerCount(request)
  const input = tokens.estimate({ ...request, model }).tokens
  const cost = prices.cost(provider, model, { ...noUsage, input, output, source: 'estimated' })
  return {
    nano: cost?.totalNano ?? 0,
    target: `${provider}/${model}`,
    isWhole: cost !== undefined && limit !== undefined,
  }
}
