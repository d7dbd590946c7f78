/** USD per million tokens, as the catalogue keeps it. */
export type RateValue = number | { base: number; tiers: { start: number; price: number }[] }

/** USD for a million of what costs this much each, without the noise of the division. */
const perMillion = (usd: number): number => Number((usd * 1e6).toPrecision(12))

/**
 * A rate out of a price for one token and those for longer prompts. A range that starts at 0 is the price itself.
 * Undefined where there is no price.
 */
export function tiered(
  price: unknown,
  tiers: readonly { start: number; price: unknown }[],
): RateValue | undefined {
  const higher = tiers.flatMap(({ start, price }) =>
    typeof price === 'number' && start > 0 ? [{ start, price: perMillion(price) }] : [],
  )
  const first = typeof price === 'number' ? price : tiers.find(({ start }) => start === 0)?.price
  if (typeof first !== 'number') return undefined
  return higher.length === 0 ? perMillion(first) : { base: perMillion(first), tiers: higher }
}

/** The rates that are known. A model whose tokens are all free has none, because the zero may be a mistake. */
export function usable(rates: Readonly<Record<string, RateValue | undefined>>): {
  usd_per_m?: Record<string, RateValue>
} {
  const known = Object.entries(rates).flatMap(([name, rate]) =>
    rate === undefined ? [] : [[name, rate] as const],
  )
  return known.some(([, rate]) => rate !== 0) ? { usd_per_m: Object.fromEntries(known) } : {}
}
