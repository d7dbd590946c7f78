import { noUsage, type PriceItem, type Rates, type Usage } from '#kernel'
import { usdOf } from '#kit'
import { amountsOf } from './rates.ts'

type TokenClass = PriceItem['class']

const ofInput = ['cachedRead', 'cacheWrite5m', 'cacheWrite1h', 'audioIn', 'imageIn'] as const
const ofOutput = ['reasoning', 'audioOut'] as const

/**
 * The classes that a usage has tokens of, each with its price; they and the price of the call itself add up to what
 * `amountsOf` says. Empty when there are tokens the rates have no price for.
 */
export function itemsOf(rates: Rates, usage: Usage): PriceItem[] {
  const plain = (whole: number, of: readonly (keyof Usage)[]): number =>
    Math.max(0, whole - of.reduce((sum, part) => sum + Number(usage[part]), 0))
  const tokens: [TokenClass, number][] = [
    ['input', plain(usage.input, ofInput)],
    ...ofInput.map((part): [TokenClass, number] => [part, usage[part]]),
    ['output', plain(usage.output, ofOutput)],
    ...ofOutput.map((part): [TokenClass, number] => [part, usage[part]]),
  ]
  if (!amountsOf(rates, usage)) return []
  return tokens.flatMap(([name, count]) => (count > 0 ? [itemOf(rates, usage.input, name, count)] : []))
}

/** A class is priced as a usage of it alone would be, at the tier that the whole prompt leads to. */
function itemOf(
  { callUsd: _, ...rates }: Rates,
  prompt: number,
  name: TokenClass,
  tokens: number,
): PriceItem {
  const alone: Usage = { ...noUsage, [name]: tokens, source: 'provider' }
  const costNano = amountsOf(atPrompt(rates, prompt), alone)?.totalNano ?? 0
  return { class: name, tokens, costNano, usdPerM: usdOf((costNano / tokens) * 1e6) }
}

/** The rates as they are for a prompt of this length. */
function atPrompt(rates: Omit<Rates, 'callUsd'>, prompt: number): Rates {
  return Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => {
      if (rate === undefined || typeof rate === 'number') return [name, rate]
      return [name, rate.tiers.findLast(({ start }) => prompt > start)?.price ?? rate.base]
    }),
  )
}
