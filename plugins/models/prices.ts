import type { Pricing, Rates } from '#kernel'
import { findOverride } from './catalogue/overrides.ts'
import type { Catalogue, CatalogueModel } from './catalogue.ts'
import { ByModel } from './prices/by-model.ts'
import { itemsOf } from './prices/items.ts'
import { completed, listedRates } from './prices/listed.ts'
import { findPackaged, packagedVersion } from './prices/packaged.ts'
import { amountsOf } from './prices/rates.ts'
import type { PriceEntries } from './sections.ts'

export interface PriceOptions {
  /** By `provider/model`, where a model may end in `*`; they win over the catalogue. */
  readonly overrides?: PriceEntries
  /** The name under which the catalogue knows a provider; its own by default. */
  readonly priceId?: (provider: string) => string
  /** Models beyond those of the price package; one that the operator has loaded outweighs the package. */
  readonly catalogue?: Pick<Catalogue, 'edition' | 'find'>
  /** Whether a provider costs nothing for models that have no price. */
  readonly isFree?: (provider: string) => boolean
}

interface Entry {
  readonly priceId: string
  readonly source: 'catalogue' | 'override'
  readonly rates: Rates
  readonly contextWindow: number | undefined
  readonly origin: string
  /** The second the rates are of, for a model whose price changes with time. */
  readonly second: number | undefined
}

/** An entry, if there is one, under the name that the catalogue had for the provider. */
interface Found {
  readonly catalogueName: string
  readonly entry: Entry | undefined
}

/** Longer names are no model's, and are not worth the memory. */
const maxName = 256
const cachedModels = 4096

/** Prices by provider and model. Each model is looked up once (each second, when its price depends on time). */
export function createPrices({
  overrides = {},
  priceId = (provider) => provider,
  catalogue,
  isFree = () => false,
}: PriceOptions = {}): Pricing {
  const known = new ByModel<Found>(cachedModels)
  const overrideOf = findOverride(overrides)
  const packaged = packagedVersion()
  let edition = catalogue?.edition

  function lookUp(catalogueName: string, model: string, name: string, at: number): Entry | undefined {
    const listed = catalogue?.find(name.slice(0, -model.length - 1), catalogueName, model)
    const found = findPackaged(catalogueName, model, new Date(at))
    const contextWindow = listed?.entry.context_window ?? found?.contextWindow
    const override = overrideOf(name)
    if (override) {
      const { key, value } = override
      return {
        priceId: key,
        source: 'override',
        rates: ratesOf(value),
        contextWindow,
        origin: 'service.yaml',
        second: undefined,
      }
    }
    const fromCatalogue = listed && catalogueEntry(listed, contextWindow)
    if (fromCatalogue && (listed.loaded || !found)) return fromCatalogue
    if (!found) return undefined
    const { rates, lacking } = completed(found, listed)
    const filled = lacking.length > 0 ? `; ${listed!.origin}, for ${lacking.join(', ')}` : ''
    return {
      priceId: found.id,
      source: 'catalogue',
      rates,
      contextWindow,
      origin: packaged + filled,
      second: found.timed ? Math.floor(at / 1000) : undefined,
    }
  }

  function priced(provider: string, model: string, at: number): Entry | undefined {
    if (model.length > maxName || provider.length > maxName) return undefined
    if (edition !== catalogue?.edition) {
      known.clear()
      edition = catalogue?.edition
    }
    const catalogueName = priceId(provider)
    const cached = known.get(provider, model)
    if (cached?.catalogueName === catalogueName) {
      const second = cached.entry?.second
      if (second === undefined || second === Math.floor(at / 1000)) return cached.entry
    }
    const entry = lookUp(catalogueName, model, `${provider}/${model}`, at)
    known.set(provider, model, { catalogueName, entry })
    return entry
  }

  const find = (provider: string, model: string, at: number): Entry | undefined =>
    priced(provider, model, at) ?? (isFree(provider) ? freeEntry(provider) : undefined)

  return {
    cost(provider, model, usage, at = Date.now()) {
      if (usage.source === 'none') return undefined
      const entry = find(provider, model, at)
      const amounts = entry && amountsOf(entry.rates, usage)
      return amounts && { ...amounts, priceId: entry.priceId, source: entry.source }
    },

    describe(provider, model, at = Date.now()) {
      const entry = find(provider, model, at)
      if (!entry) return undefined
      const { second: _, ...description } = entry
      return description
    },

    items: itemsOf,
  }
}

const freeEntry = (provider: string): Entry => ({
  priceId: `${provider}/*`,
  source: 'catalogue',
  rates: { input: 0, output: 0 },
  contextWindow: undefined,
  origin: 'the provider, which costs nothing',
  second: undefined,
})

function catalogueEntry(model: CatalogueModel, contextWindow: number | undefined): Entry | undefined {
  const { id, origin } = model
  const rates = listedRates(model)
  if (!rates) return undefined
  return { priceId: id, source: 'catalogue', rates, contextWindow, origin, second: undefined }
}

function ratesOf(price: PriceEntries[string]): Rates {
  return {
    input: price.inputUsdPerM,
    output: price.outputUsdPerM,
    cachedRead: price.cachedReadUsdPerM,
    cacheWrite5m: price.cacheWrite5mUsdPerM,
    cacheWrite1h: price.cacheWrite1hUsdPerM,
    reasoning: price.reasoningUsdPerM,
    audioIn: price.audioInUsdPerM,
    audioOut: price.audioOutUsdPerM,
    imageIn: price.imageInUsdPerM,
    callUsd: price.callUsd,
  }
}
