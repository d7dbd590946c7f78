import { isDeepStrictEqual } from 'node:util'
import type { Rates } from '#kernel'
import type { CatalogueModel } from '../catalogue.ts'
import type { PackagedPrice } from './packaged.ts'

/** The rates of a model of the catalogue; undefined when it has none. */
export function listedRates({ entry: { usd_per_m: usd } }: CatalogueModel): Rates | undefined {
  return (
    usd && {
      input: usd.input,
      output: usd.output,
      cachedRead: usd.cached_read,
      cacheWrite5m: usd.cache_write_5m,
      cacheWrite1h: usd.cache_write_1h,
      reasoning: usd.reasoning,
      audioIn: usd.audio_in,
      audioOut: usd.audio_out,
      imageIn: usd.image_in,
      callUsd: usd.call_usd,
    }
  )
}

/**
 * The rates of the price package, with those of the catalogue for classes that the package does not know: only where the
 * two agree on the price of plain input and output, so that no bill mixes two price lists.
 */
export function completed(
  { rates }: PackagedPrice,
  listed: CatalogueModel | undefined,
): { readonly rates: Rates; readonly lacking: readonly string[] } {
  const more = listed && listedRates(listed)
  if (!more || !isDeepStrictEqual([more.input, more.output], [rates.input, rates.output])) {
    return { rates, lacking: [] }
  }
  const known = (from: Rates) => Object.entries(from).filter(([, rate]) => rate !== undefined)
  const own = new Map(known(rates))
  const added = known(more).filter(([name]) => !own.has(name))
  return { rates: Object.fromEntries([...own, ...added]), lacking: added.map(([name]) => name) }
}
