import { type Call, type Candidate, noUsage, type Pricing, type TokenCounting } from '#kernel'
import { answerCount, tokenLimit } from '#kit'

/** Tokens of an answer that has no limit, where nothing more is known of its model. */
const typicalAnswer = 256

export interface Estimate {
  /** Nano-dollars; what is not known costs nothing. */
  readonly nano: number
  /** The provider and model that it is for. */
  readonly target: string
  /** Whether price and length are known, so that the call costs no more than this, as far as its prompt was counted well. */
  readonly isWhole: boolean
}

interface Rating {
  readonly prices: Pricing
  readonly tokens: TokenCounting
}

/** What a call would cost at a place: its prompt, estimated, and as long an answer as it may have. */
export function estimateOf(
  call: Call,
  { provider, model }: Pick<Candidate, 'provider' | 'model'>,
  { prices, tokens }: Rating,
): Estimate {
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

/**
 * For a model that nothing serves by this name, and that a fallback or another module may still exchange: its cost is not known,
 * and any amount, however small, has no room under a cap that is reached.
 */
export const estimateOfName = (model: string): Estimate => ({ nano: 1, target: model, isWhole: false })
