import {
  type Attempt,
  badRequest,
  type Call,
  type GatewayError,
  type ModelCatalogue,
  noUsage,
  type Pricing,
  type TokenCounting,
} from '#kernel'
import { answerCount, nanoOf, tokenLimit } from '#kit'

/** What is known of models, as far as plugins offer it. */
interface Facts {
  readonly catalogue: ModelCatalogue | undefined
  readonly prices: Pricing | undefined
  readonly tokens: TokenCounting | undefined
}

/**
 * Refuses attempts that could raise the cost of a call above a bound, before anything is sent: by the estimate of its prompt
 * and the most tokens that its answer can have. An attempt without such a bound is refused too.
 */
export function costBound(
  maxUsd: number,
  { catalogue, prices, tokens }: Facts,
): (attempt: Attempt, call: Call) => void {
  const refuse = (why: string): GatewayError =>
    badRequest(`Nothing is sent, since the call may cost $${maxUsd} at the most: ${why}.`, {
      param: 'max_cost_usd',
      type: 'max_cost',
    })
  /** The most that an attempt can cost, in nano-dollars. */
  const mostOf = ({ provider, model }: Attempt, call: Call): number => {
    const output = mostOutput(call) ?? catalogue?.describe(provider, model)?.maxOutputTokens
    if (output === undefined)
      throw refuse(`it is not known how long an answer of ${model} gets, so say max_tokens`)
    const input = tokens?.estimate({ ...call.request, model }).tokens
    const cost =
      input === undefined
        ? undefined
        : prices?.cost(provider, model, { ...noUsage, input, output, source: 'estimated' })
    if (!cost) throw refuse(`no price of ${provider}/${model} is known`)
    return cost.totalNano
  }
  /** What an earlier attempt has cost: the most, while it is under way or has not said. */
  const spentBy = (attempt: Attempt, call: Call): number => {
    const used = attempt.usage?.()
    if (used) return prices?.cost(attempt.provider, attempt.model, used)?.totalNano ?? 0
    return attempt.error ? 0 : mostOf(attempt, call)
  }
  return (attempt, call) => {
    const { provider, model } = attempt
    let nano = mostOf(attempt, call)
    for (const earlier of call.trace.attempts) nano += spentBy(earlier, call)
    if (nano > nanoOf(maxUsd))
      throw refuse(`it could cost $${(nano / 1e9).toFixed(6)} at ${provider}/${model}`)
  }
}

/** Most tokens of all answers together, as far as the request says. */
function mostOutput({ operation, request }: Call): number | undefined {
  if (operation === 'embedding') return 0
  const said = tokenLimit(request)
  return said === undefined ? undefined : said * answerCount(request)
}
