import type { Amounts, Rate, Rates, Usage } from '#kernel'
import { mostCallUsd, nanoOf } from '#kit'

const mostCallNano = nanoOf(mostCallUsd)

/**
 * The cost of a usage, each token counted once: every class is taken out of the class it is part of. Classes that together
 * exceed their whole leave nothing of it. Undefined when there are tokens the rates have no price for.
 */
export function amountsOf(rates: Rates, usage: Usage): Amounts | undefined {
  const { input, output } = rates
  if ((input === undefined && usage.input > 0) || (output === undefined && usage.output > 0)) return undefined
  const prompt = usage.input
  const of = (tokens: number, rate: Rate | undefined) => (tokens > 0 ? nano(tokens, rate ?? 0, prompt) : 0)

  const { cachedRead, cacheWrite5m, cacheWrite1h, audioIn, imageIn, reasoning, audioOut } = usage
  const plainInput = prompt - cachedRead - cacheWrite5m - cacheWrite1h - audioIn - imageIn
  const plainOutput = usage.output - reasoning - audioOut
  const inputNano = of(plainInput, input)
  const outputNano = of(plainOutput, output) + of(reasoning, rates.reasoning ?? output)
  const cacheNano =
    of(cachedRead, rates.cachedRead ?? input) +
    of(cacheWrite5m, rates.cacheWrite5m ?? input) +
    of(cacheWrite1h, rates.cacheWrite1h ?? hourly(rates.cacheWrite5m) ?? input)
  const otherNano =
    of(audioIn, rates.audioIn ?? input) +
    of(imageIn, rates.imageIn ?? input) +
    of(audioOut, rates.audioOut ?? output) +
    bounded(nanoOf(rates.callUsd ?? 0))
  return {
    totalNano: inputNano + outputNano + cacheNano + otherNano,
    inputNano,
    outputNano,
    cacheNano,
    otherNano,
  }
}

/** Of the price of plain input, an hour is 2 and five minutes are 1.25: Anthropic's "Prompt caching", "Pricing". */
const hourly = (rate: Rate | undefined): Rate | undefined => rate && scaled(rate, 2 / 1.25)

function scaled(rate: Rate, by: number): Rate {
  if (typeof rate === 'number') return rate * by
  return {
    base: rate.base * by,
    tiers: rate.tiers.map(({ start, price }) => ({ start, price: price * by })),
  }
}

/** Dollars per million tokens are thousands of nano-dollars per token. */
function nano(tokens: number, rate: Rate, prompt: number): number {
  return bounded(Math.round(tokens * 1000 * (typeof rate === 'number' ? rate : tierPrice(rate, prompt))))
}

/** The price of one class ends where that of a whole call does, so that amounts are whole numbers whatever the rates. */
const bounded = (nano: number): number => Math.min(nano, mostCallNano)

function tierPrice({ base, tiers }: Exclude<Rate, number>, prompt: number): number {
  let price = base
  for (const tier of tiers) if (prompt > tier.start) price = tier.price
  return price
}
