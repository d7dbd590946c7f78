import { LRUCache } from 'lru-cache'
import { badRequest, type ModelCatalogue, notFound, type Provider } from '#kernel'
import { nearest } from '#kit'
import type { RouteTable } from './route-table.ts'
import type { ServedModels } from './served-models.ts'

/** Where a model name leads: providers in order of preference, each with the model's name there. */
export interface Route {
  readonly provider: Provider
  readonly model: string
  /** Why this one, for traces. */
  readonly reason: string
}

/** A provider with what its manifest or entry says of the models that it serves. */
export interface Listed {
  readonly provider: Provider
  readonly serves: (model: string) => boolean
}

export interface RoutingParts {
  /** The providers by their names; another object whenever they have changed. */
  readonly providers: () => ReadonlyMap<string, Listed>
  /** Whether some entry cannot be used. */
  readonly hasUnusable: () => boolean
  readonly routes: RouteTable
  readonly served: ServedModels
  readonly catalogue: (() => Pick<ModelCatalogue, 'edition' | 'lists'> | undefined) | undefined
}

/** What is said of a model that no provider serves. */
export interface Advice {
  /** Names that may have been meant, besides those of models. */
  readonly others: () => readonly string[]
  readonly advise: (model: string) => string | undefined
  /** Names of models. */
  readonly names: () => readonly string[]
}

/** Finds the providers that a model's name leads to, and keeps what it found until something changes that decides it. */
export class Routing {
  readonly #parts: RoutingParts
  readonly #routes = new LRUCache<string, readonly Route[]>({ max: 5000 })
  #providers: ReadonlyMap<string, Listed> = new Map()
  /** The editions of the data that the kept routes were found in. */
  #editions = ''

  constructor(parts: RoutingParts) {
    this.#parts = parts
  }

  /** Providers in order of preference, at least one; throws a not found. */
  routesOf(model: string, advice: Advice): readonly Route[] {
    this.#forgetOutdated()
    let routes = this.#routes.get(model)
    if (!routes) {
      routes = this.#find(model)
      if (routes.length === 0) throw unknown(model, advice)
      this.#routes.set(model, routes)
    }
    return routes
  }

  #forgetOutdated(): void {
    const { routes, served, catalogue } = this.#parts
    const providers = this.#parts.providers()
    const editions = `${routes.edition} ${catalogue?.()?.edition} ${served.edition}`
    if (this.#providers === providers && this.#editions === editions) return
    this.#providers = providers
    this.#editions = editions
    this.#routes.clear()
  }

  #find(model: string): readonly Route[] {
    const slash = model.indexOf('/')
    const named = slash > 0 ? this.#providers.get(model.slice(0, slash)) : undefined
    if (named)
      return [{ provider: named.provider, model: model.slice(slash + 1), reason: 'named in the model' }]
    const route = this.#parts.routes.find(model)
    if (route) {
      const provider = this.#providers.get(route.provider)?.provider
      if (provider) return [{ provider, model: route.model ?? model, reason: `route ${route.match}` }]
      throw badRequest(
        `The route for ${route.match} leads to ${route.provider}, which is no known provider: an admin can correct the routes.`,
        { param: 'model' },
      )
    }
    const naming = this.#naming(model)
    const serving = this.#serving(model, naming.length > 0 ? naming : this.#inCatalogue(model))
    return [
      ...serving.filter(({ configured }) => configured),
      ...serving.filter(({ configured }) => !configured),
      ...this.#fallbacks(),
    ].map((provider) => ({
      provider,
      model: this.#parts.served.nameAt(provider.name, model) ?? model,
      reason: provider.spec.fallback ? 'no other provider is configured' : `${provider.name} serves ${model}`,
    }))
  }

  #naming(model: string): Provider[] {
    return [...this.#providers.values()].flatMap(({ provider, serves }) => (serves(model) ? [provider] : []))
  }

  /** These providers and those that serve the model at present, which may be down, and so replace none. */
  #serving(model: string, known: readonly Provider[]): Provider[] {
    const { served } = this.#parts
    return this.#all().filter(
      (provider) => known.includes(provider) || served.nameAt(provider.name, model) !== undefined,
    )
  }

  #inCatalogue(model: string): Provider[] {
    const catalogue = this.#parts.catalogue?.()
    return this.#all().filter(({ name, priceId }) => catalogue?.lists(name, priceId, model))
  }

  /** The mock, while no other provider is configured: a broken entry is no reason to make answers up. */
  #fallbacks(): Provider[] {
    const others = this.#all().filter(({ spec }) => !spec.fallback)
    if (this.#parts.hasUnusable() || others.some(({ configured }) => configured)) return []
    return this.#all().filter(({ spec }) => spec.fallback)
  }

  #all(): Provider[] {
    return [...this.#providers.values()].map(({ provider }) => provider)
  }
}

function unknown(model: string, { names, others, advise }: Advice): Error {
  const near = nearest(model, [...names(), ...others()])
  const hint = near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `
  const help = advise(model) ?? `${hint}Write provider/model to name the provider outright.`
  return notFound(`No provider serves the model ${model}. ${help}`, { param: 'model' })
}
