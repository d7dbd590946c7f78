import {
  type Arrangement,
  type Candidate,
  ModelCatalogue,
  type ModelDescription,
  type PriceDescription,
  Pricing,
} from '#kernel'
import type { Usable } from './choice.ts'

type On = Pick<Arrangement, 'protocols' | 'services'>

/** A route as modules see it. What models cost and can do is looked up when a module reads it. */
export class RouteCandidate implements Candidate {
  readonly provider: string
  readonly model: string
  readonly local: boolean
  readonly #usable: Usable
  readonly #on: On
  #described: { readonly model: ModelDescription | undefined } | undefined
  #priced: { readonly price: PriceDescription | undefined } | undefined

  constructor(usable: Usable, on: On) {
    const { provider, model } = usable.route
    this.provider = provider.name
    this.model = model
    this.local = provider.local
    this.#usable = usable
    this.#on = on
  }

  /** Unknown where the keys that may be used lead to several. */
  get region(): string | undefined {
    const { route, keys } = this.#usable
    const { provider, model } = route
    const protocol = this.#on.protocols.get(provider.protocol)
    if (!protocol?.region) return provider.region
    const regions = new Set(keys.map((key) => protocol.region!({ provider, model, key }) ?? provider.region))
    if (regions.size === 0) return provider.region
    return regions.size === 1 ? [...regions][0] : undefined
  }

  get window(): number | undefined {
    return this.#description()?.contextWindow ?? this.#price()?.contextWindow
  }

  get capabilities(): Candidate['capabilities'] {
    return this.#description()?.capabilities ?? {}
  }

  get rates(): Candidate['rates'] {
    return this.#price()?.rates
  }

  #description(): ModelDescription | undefined {
    const catalogue = this.#on.services.get(ModelCatalogue) as ModelCatalogue | undefined
    this.#described ??= { model: catalogue?.describe(this.provider, this.model) }
    return this.#described.model
  }

  #price(): PriceDescription | undefined {
    const prices = this.#on.services.get(Pricing) as Pricing | undefined
    this.#priced ??= { price: prices?.describe(this.provider, this.model) }
    return this.#priced.price
  }
}
