import type { Pricing } from '#kernel'
import { nanoOf, usdOf } from '#kit'
import type { TraceRow } from '../row.ts'
import type { TraceExplanation } from './shapes.ts'

type Bill = TraceExplanation['price']

/** How what was booked for a call comes about, class by class, as far as the price can still be looked up. */
export function billOf(row: TraceRow, prices: Pricing): Bill {
  const { cost, usage } = row
  const total_usd = cost ? usdOf(cost.total_nano) : null
  const bill = { price_id: cost?.price_id ?? null, source: cost?.source ?? null, total_usd }
  const bare = (reason: string, reproduced = false): Bill => {
    return { ...bill, items: [], call_usd: 0, reproduced, reason }
  }
  if (row.cache) return bare('the answer came from the cache', total_usd === null)
  if (usage.source === 'none') return bare('nothing was used', total_usd === null)
  if (!cost) return bare('no price of the model is known')
  if (cost.unpriced !== undefined)
    return bare('the price of some attempts is not known, so the call cost more than this')
  if (cost.source === 'provider') return bare('the provider reported the cost of the call', true)
  const described = prices.describe(row.provider ?? '', row.provider_model ?? row.model, row.at)
  if (!described) return bare('the price at which it was booked is no longer known')
  const items = prices.items(described.rates, usage)
  const callNano = nanoOf(described.rates.callUsd ?? 0)
  const sum = items.reduce((all, { costNano }) => all + costNano, callNano)
  const reproduced = sum === cost.total_nano && described.priceId === cost.price_id
  return {
    ...bill,
    items: items.map(({ class: name, tokens, usdPerM, costNano }) => {
      return { class: snake(name), tokens, usd_per_m: usdPerM, cost_usd: usdOf(costNano) }
    }),
    call_usd: usdOf(callNano),
    reproduced,
    reason: reproduced ? `by ${described.origin}` : reasonOf(row),
  }
}

const reasonOf = ({ attempts }: TraceRow): string =>
  attempts.length > 1
    ? 'several attempts were billed, and the items are at the price of the one that answered'
    : 'the price has changed since'

const snake = (name: string): string => name.replace(/[A-Z0-9]+/g, (part) => `_${part.toLowerCase()}`)
