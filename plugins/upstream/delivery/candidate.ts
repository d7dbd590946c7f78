import {
  type Arrangement,
  type Candidate,
  ModelCatalogue,
  type ModelDescription,
  type PriceDescription,
  Pricing,
} from '#kernel'
import type { Route } from '../directory.ts'

type Services = Arrangement['services']

/** A route as modules see it. What models cost and can do is looked up when a module reads it. */
export class RouteCandidate implements Candidate {
  readonly provider: string
  readonly model: string
  readonly region: string | undefined
  readonly local: boolean
  readonly #services: Services
  #described: { readonly model: ModelDescription | undefined } | undefined
  #priced: { readonly price: PriceDescription | undefined } | undefined

  constructor({ provider, model }: Route, services: Services) {
    this.provider = provider.name
    this.model = model
    this.region = provider.region
    this.local = provider.local
    this.#services = services
  }

  get window(): number | undefined {
    return this.#description?.contextWindow ?? this.#price?.contextWindow
  }

  get capabilities(): Candidate['capabilities'] {
    return this.#description?.capabilities ?? {}
  }

  get rates(): Candidate['rates'] {
    return this.#price?.rates
  }

  get #description(): ModelDescription | undefined {
    const catalogue = this.#services.get(ModelCatalogue) as ModelCatalogue | undefined
    this.#described ??= { model: catalogue?.describe(this.provider, this.model) }
    return this.#described.model
  }

  get #price(): PriceDescription | undefined {
    const prices = this.#services.get(Pricing) as Pricing | undefined
    this.#priced ??= { price: prices?.describe(this.provider, this.model) }
    return this.#priced.price
  }
}
