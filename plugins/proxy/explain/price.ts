import {
  type Call,
  type Context,
  fromWireUsage,
  Pricing,
  type Rates,
  TokenCounting,
  type Usage,
} from '#kernel'
import { answerCount, tokenLimit, usdOf } from '#kit'
import type { Explanation } from './shapes.ts'

interface Target {
  readonly provider: string
  readonly model: string
}

type Priced = Pick<Explanation, 'price' | 'estimate'>

/** The price of a call by class of token, and at the most, as far as a price is known. */
export function priced({ use }: Context<unknown>, call: Call, target: Target | undefined): Priced {
  const prices = use(Pricing)
  const { request } = call
  const tokensIn = use(TokenCounting).estimate({ ...request, model: target?.model ?? request.model }).tokens
  const tokensOut = mostTokens(call)
  const described = target && prices.describe(target.provider, target.model)
  const cost = (usage: Usage) => target && prices.cost(target.provider, target.model, usage)
  const input = cost(usageOf(tokensIn, 0))
  const whole = tokensOut === null ? undefined : cost(usageOf(tokensIn, tokensOut))
  return {
    price: described
      ? {
          price_id: described.priceId,
          source: described.source,
          origin: described.origin,
          ...ratesOf(described.rates),
        }
      : null,
    estimate: {
      tokens_in: tokensIn,
      tokens_out_max: tokensOut,
      input_usd: input ? usdOf(input.totalNano) : null,
      output_usd_max: whole && input ? usdOf(whole.totalNano - input.totalNano) : null,
      total_usd_max: whole ? usdOf(whole.totalNano) : null,
    },
  }
}

type Shown = NonNullable<Explanation['price']>

function ratesOf({ callUsd, ...classes }: Rates): Pick<Shown, 'usd_per_m' | 'call_usd'> {
  const known = Object.entries(classes).flatMap(([name, rate]): [string, Shown['usd_per_m'][string]][] => {
    if (rate === undefined) return []
    const key = name.replace(/[A-Z0-9]+/g, (part) => `_${part.toLowerCase()}`)
    return [[key, typeof rate === 'number' ? rate : { base: rate.base, tiers: [...rate.tiers] }]]
  })
  return { usd_per_m: Object.fromEntries(known), call_usd: callUsd ?? null }
}

const usageOf = (prompt: number, completion: number): Usage =>
  fromWireUsage({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion })

function mostTokens({ operation, request }: Call): number | null {
  if (operation === 'embedding') return 0
  const most = tokenLimit(request)
  return most !== undefined ? most * answerCount(request) : null
}
