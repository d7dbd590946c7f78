import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import type { Rates } from '#kernel'

const packageName = '@pydantic/genai-prices'

/** Loaded with the first price that is asked for: it is 3 MB, and 25 ms of a start. */
const load = (): typeof import('@pydantic/genai-prices') => createRequire(import.meta.url)(packageName)

/** A model of the price package, with its rates at one time. */
export interface PackagedPrice {
  readonly id: string
  readonly rates: Rates
  /** Whether other times have, had or will have other rates. */
  readonly timed: boolean
  /** Tokens the model can take, where the catalogue says so. */
  readonly contextWindow: number | undefined
}

/**
 * Looks a model up in the price data that the package bundles; nothing is fetched. A provider counts only by its own
 * name: the catalogue's near matches would be guesses.
 */
export function findPackaged(providerId: string, model: string, at: Date): PackagedPrice | undefined {
  const { calcPrice, findProvider } = load()
  if (findProvider({ providerId })?.id !== providerId) return undefined
  const found = calcPrice({}, model, { providerId, timestamp: at })
  if (!found) return undefined
  const price = found.model_price
  return {
    id: `${found.provider.id}/${found.model.id}`,
    rates: {
      input: price.input_mtok,
      output: price.output_mtok,
      cachedRead: price.cache_read_mtok,
      cacheWrite5m: price.cache_write_5m_mtok ?? price.cache_write_mtok,
      cacheWrite1h: price.cache_write_1h_mtok,
      reasoning: price.output_reasoning_mtok,
      audioIn: price.input_audio_mtok,
      audioOut: price.output_audio_mtok,
      imageIn: price.input_image_mtok,
      callUsd: typeof price.requests_kcount === 'number' ? price.requests_kcount / 1000 : undefined,
    },
    timed: Array.isArray(found.model.prices),
    contextWindow: found.model.context_window,
  }
}

/** Name and version of the price data. */
export function packagedVersion(): string {
  const file = findPackageJSON(packageName, import.meta.url)
  const { version } = JSON.parse(file ? readFileSync(file, 'utf8') : '{}') as { readonly version?: string }
  return `${packageName} ${version ?? 'of unknown version'}`
}
