import type { ModelCatalogue } from '../../contract/model-catalogue.ts'
import type { TokenCounting } from '../../contract/token-counting.ts'
import type { Call } from '../../kernel/call/call.ts'
import type { Pricing } from '../../kernel/contract/models.ts'
import type { Candidate } from '../../kernel/contract/routing.ts'
import { answerTokens } from '../answers/answer-tokens.ts'
import { noUsage } from '../canonical/usage.ts'

/** What a call is expected to cost at one place. */
export interface CostEstimate {
  /** Nano-dollars; what is not known costs nothing. */
  readonly nano: number
  /** With a long answer where its length is left open: to set apart while nothing is known of what the model's calls cost. */
  readonly cautiousNano: number
  /** The provider and model that it is for. */
  readonly target: string
  /** Whether price and length are known, so that the call costs no more than this, as far as its prompt was counted well. */
  readonly isWhole: boolean
}

interface Rating {
  readonly prices: Pricing
  readonly tokens: TokenCounting
  /** Knows the longest answers of models. */
  readonly models?: ModelCatalogue | undefined
}

/** What a call would cost at a place: its prompt, estimated, and as long an answer as it may have. */
export function estimateCost(
  call: Call,
  { provider, model }: Pick<Candidate, 'provider' | 'model'>,
  { prices, tokens, models }: Rating,
): CostEstimate {
  const answer = answerTokens(call, models?.describe(provider, model)?.maxOutputTokens)
  const input = tokens.estimate({ ...call.request, model }).tokens
  const costOf = (output: number) =>
    prices.cost(provider, model, { ...noUsage, input, output, source: 'estimated' })
  const cost = costOf(answer.expected)
  return {
    nano: cost?.totalNano ?? 0,
    cautiousNano: (answer.isKnown ? cost : costOf(answer.cautious))?.totalNano ?? 0,
    target: `${provider}/${model}`,
    isWhole: cost !== undefined && answer.isKnown,
  }
}
