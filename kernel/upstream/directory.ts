import { LRUCache } from 'lru-cache'
import type { Capability, Catalogue } from '../catalogue.ts'
import { compileGlobs } from '../chain/when.ts'
import type { Config } from '../config.ts'
import { badRequest, notFound } from '../errors.ts'
import { nearest } from './directory/nearest.ts'
import { type Environment, providerOf } from './directory/provider.ts'
import type { Provider, ProviderSpec } from './provider.ts'
import { RouteTable } from './route-table.ts'

/** Where a model name leads: providers in order of preference, each with the model's name there. */
export interface Route {
  readonly provider: Provider
  readonly model: string
  /** Why this one, for traces. */
  readonly reason: string
}

interface Listed {
  readonly provider: Provider
  readonly serves: (model: string) => boolean
}

export interface DirectoryOptions {
  /** Tells who has a model that nobody's manifest or entry names. */
  readonly catalogue?: Pick<Catalogue, 'edition' | 'find' | 'supports'>
  /** That of the configuration by default. */
  readonly routes?: RouteTable
}

/** The providers as manifests, configuration and environment make them, and which of them gets a model. */
export class Directory {
  readonly #config: Pick<Config, 'providers'>
  readonly #env: Environment
  readonly #catalogue: DirectoryOptions['catalogue']
  readonly #routes: RouteTable
  /** What the answers that are remembered were made of. */
  #editions = ''
  #listed = new Map<string, Listed>()
  /** Models that providers have listed themselves. */
  readonly #learned = new Map<string, readonly string[]>()
  readonly #resolved = new LRUCache<string, readonly Route[]>({ max: 5000 })

  constructor(
    config: Pick<Config, 'providers' | 'routes'>,
    env: Environment,
    options: DirectoryOptions = {},
  ) {
    this.#config = config
    this.#env = env
    this.#catalogue = options.catalogue
    this.#routes = options.routes ?? new RouteTable(config.routes)
  }

  /** Takes in the providers that are switched on; the configuration's own come on top. */
  update(specs: ReadonlyMap<string, ProviderSpec>): void {
    const names = new Set([...Object.keys(this.#config.providers), ...specs.keys()])
    this.#listed = new Map()
    for (const name of names) {
      const provider = providerOf(name, this.#config.providers[name], specs, this.#env)
      if (provider) this.#listed.set(name, { provider, serves: compileGlobs(provider.spec.models) })
    }
    this.#resolved.clear()
  }

  get providers(): Provider[] {
    return [...this.#listed.values()].map(({ provider }) => provider)
  }

  find(name: string): Provider | undefined {
    return this.#listed.get(name)?.provider
  }

  /** A provider by name; throws a bad request that lists the ones there are. */
  get(name: string): Provider {
    const provider = this.find(name)
    if (provider) return provider
    const configured = this.providers.filter((p) => p.configured).map((p) => p.name)
    throw badRequest(
      `There is no provider called ${name}. Configured are: ${configured.join(', ') || 'none'}.`,
      {
        param: 'X-Provider',
      },
    )
  }

  /**
   * Where a model may go, best first. `provider/model` says it outright; then the table of routes; then the providers
   * that name the model, or else those that the catalogue lists it for, in both cases those with a key first. Throws a
   * not found when nobody does, with near names: those of models, and those that `others` gives.
   */
  resolve(
    model: string,
    forced: string | undefined,
    others: () => readonly string[] = () => [],
  ): readonly Route[] {
    if (forced !== undefined) {
      const provider = this.get(forced)
      const bare = model.startsWith(`${forced}/`) ? model.slice(forced.length + 1) : model
      return [{ provider, model: bare, reason: 'X-Provider' }]
    }
    const editions = `${this.#routes.edition} ${this.#catalogue?.edition}`
    if (this.#editions !== editions) {
      this.#editions = editions
      this.#resolved.clear()
    }
    let routes = this.#resolved.get(model)
    if (!routes) {
      routes = this.#look(model, others)
      this.#resolved.set(model, routes)
    }
    return routes
  }

  #look(model: string, others: () => readonly string[]): readonly Route[] {
    const slash = model.indexOf('/')
    const named = slash > 0 ? this.find(model.slice(0, slash)) : undefined
    if (named) return [{ provider: named, model: model.slice(slash + 1), reason: 'named in the model' }]
    const route = this.#routes.find(model)
    if (route) {
      return [
        { provider: this.get(route.provider), model: route.model ?? model, reason: `route ${route.match}` },
      ]
    }
    const naming = this.#serving(model)
    const serving = naming.length > 0 ? naming : this.#inCatalogue(model)
    const known = [
      ...serving.filter(({ configured }) => configured),
      ...serving.filter(({ configured }) => !configured),
      ...this.#fallbacks(),
    ]
    if (known.length === 0) throw this.#unknown(model, others())
    return known.map((provider) => ({
      provider,
      model,
      reason: provider.spec.fallback ? 'no other provider is configured' : `${provider.name} serves ${model}`,
    }))
  }

  #serving(model: string): Provider[] {
    return [...this.#listed.values()].flatMap(({ provider, serves }) => (serves(model) ? [provider] : []))
  }

  #inCatalogue(model: string): Provider[] {
    return this.providers.filter(({ name, priceId }) => this.#catalogue?.find(name, priceId, model))
  }

  /** Who answers anything as long as nobody else was meant to: a broken entry is no reason to make answers up. */
  #fallbacks(): Provider[] {
    const others = this.providers.filter(({ spec }) => !spec.fallback)
    if (this.unusable.length > 0 || others.some(({ configured }) => configured)) return []
    return this.providers.filter(({ spec }) => spec.fallback)
  }

  #unknown(model: string, others: readonly string[]): Error {
    const near = nearest(model, [...this.names, ...others])
    const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
    return notFound(
      `No provider serves the model ${model}.${hint} Write provider/model to name the provider outright.`,
      { param: 'model' },
    )
  }

  /** Model names that are known exactly, of all providers. */
  get names(): string[] {
    return [...new Set(this.providers.flatMap(({ name }) => this.namesOf(name)))]
  }

  /** The names of a provider's models: those it has listed itself, else those its manifest or entry names. */
  namesOf(provider: string): readonly string[] {
    const listed = this.#learned.get(provider)
    return listed ?? this.find(provider)?.spec.models.filter((name) => !/[*?]/.test(name)) ?? []
  }

  /** Takes in the models that a provider has listed. Calls are routed as before: a list is no promise. */
  learn(provider: string, models: readonly string[]): void {
    this.#learned.set(provider, models)
  }

  /** Whether a model can do something, as far as the operator or the catalogue says so. */
  supports(provider: string, model: string, capability: Capability): boolean | undefined {
    return this.#catalogue?.supports(provider, model, capability)
  }

  /** The name under which the price data knows a provider. */
  priceId(provider: string): string {
    return this.find(provider)?.priceId ?? provider
  }

  /** Names in the configuration that no plugin knows and no `type` explains: they cannot be used. */
  get unusable(): string[] {
    return Object.keys(this.#config.providers).filter((name) => !this.#listed.has(name))
  }
}
