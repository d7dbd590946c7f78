import {
  badRequest,
  type Capability,
  type Environment,
  type ModelCatalogue,
  type Provider,
  type ProviderSpec,
} from '#kernel'
import { compileGlobs } from '#kit'
import { providerOf } from './directory/provider.ts'
import type { RouteTable } from './directory/route-table.ts'
import { type Listed, type Route, Routing } from './directory/routing.ts'
import type { RuntimeProviders } from './directory/runtime-providers.ts'
import { ServedModels } from './directory/served-models.ts'
import { refusing } from './directory/unreadable.ts'
import type { ProviderEntries } from './sections.ts'

type DirectoryEntries = RuntimeProviders['entries']

export interface DirectoryParts {
  /** The entries of providers in service.yaml, by their names. */
  readonly entries: ProviderEntries
  /** The same with what was said at runtime on top. */
  readonly runtime?: Pick<RuntimeProviders, 'entries'>
  readonly env: Environment
  /** The providers in the manifests that are switched on; another object whenever they have changed. */
  readonly specs: () => ReadonlyMap<string, ProviderSpec>
  /** The protocols that are switched on; without it, those that the manifests name. */
  readonly protocols?: () => Pick<ReadonlyMap<string, unknown>, 'has'>
  /** Knows the providers of models that no manifest and no entry names. */
  readonly catalogue?: () => Pick<ModelCatalogue, 'edition' | 'lists' | 'supports'> | undefined
  readonly routes: RouteTable
}

/** Models of one provider's list that are taken in, and the characters of a name; calls cannot ask for a longer one. */
const mostListed = 10_000
const longestName = 256

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= longestName

/** The providers as manifests, configuration and environment make them, and which of them gets a model. */
export class Directory {
  readonly #parts: DirectoryParts
  #specs: ReadonlyMap<string, ProviderSpec> | undefined
  #entries: DirectoryEntries | undefined
  #providers = new Map<string, Listed>()
  /** Models that providers have listed themselves. */
  readonly #learned = new Map<string, readonly string[]>()
  /** Models that providers serve at present, besides those that their manifests and entries name. */
  readonly served = new ServedModels()
  readonly #routing: Routing

  constructor(parts: DirectoryParts) {
    this.#parts = parts
    this.#routing = new Routing({
      providers: () => this.#current(),
      hasUnusable: () => this.unusable.length > 0,
      routes: parts.routes,
      served: this.served,
      catalogue: parts.catalogue,
    })
  }

  /** The providers that are switched on, and the configuration's own. */
  #current(): ReadonlyMap<string, Listed> {
    const specs = this.#parts.specs()
    const { env } = this.#parts
    const entries = this.#entriesNow()
    if (specs === this.#specs && entries === this.#entries) return this.#providers
    const names = new Set([...Object.keys(entries), ...specs.keys()])
    this.#specs = specs
    this.#entries = entries
    this.#providers = new Map()
    for (const name of names) {
      const entry = entries[name]
      const known = providerOf(name, entry, specs, env)
      const provider = entry?.unreadable ? refusing(name, known, entry.unreadable) : known
      if (provider) this.#providers.set(name, { provider, serves: compileGlobs(provider.spec.models) })
    }
    return this.#providers
  }

  #entriesNow(): DirectoryEntries {
    return this.#parts.runtime?.entries ?? this.#parts.entries
  }

  get providers(): Provider[] {
    return [...this.#current().values()].map(({ provider }) => provider)
  }

  find(name: string): Provider | undefined {
    return this.#current().get(name)?.provider
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
   * not found when none does, with what `advise` says of the model, or with near names: those of models, and those that `others`
   * gives.
   */
  resolve(
    model: string,
    forced: string | undefined,
    others: () => readonly string[] = () => [],
    advise: (model: string) => string | undefined = () => undefined,
  ): readonly Route[] {
    if (forced !== undefined) {
      const provider = this.get(forced)
      const bare = model.startsWith(`${forced}/`) ? model.slice(forced.length + 1) : model
      return [{ provider, model: bare, reason: 'X-Provider' }]
    }
    return this.#routing.routesOf(model, { others, advise, names: () => this.names })
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

  /**
   * Takes in the models that a provider has listed, as far as they are names. Calls are routed as before, because a list is no
   * promise; `served` routes them.
   */
  learn(provider: string, models: readonly unknown[]): void {
    const names = new Set(models.filter(isName).slice(0, mostListed))
    this.#learned.set(provider, [...names])
  }

  /** Whether a model can do something, as far as the operator or the catalogue says so. */
  supports(provider: string, model: string, capability: Capability): boolean | undefined {
    return this.#parts.catalogue?.()?.supports(provider, model, capability)
  }

  /** The name under which the price data knows a provider. */
  priceId(provider: string): string {
    return this.find(provider)?.priceId ?? provider
  }

  /** Whether a provider says that calls to it cost nothing. */
  isFree(provider: string): boolean {
    return this.find(provider)?.spec.free ?? false
  }

  /** Names in the configuration that no plugin knows and no `type` explains, or one that nothing knows: they cannot be used. */
  get unusable(): string[] {
    const entries = this.#entriesNow()
    return Object.keys(entries).filter(
      (name) => !entries[name]?.unreadable && !this.#explains(name, entries[name]?.type),
    )
  }

  #explains(name: string, type: string | undefined): boolean {
    const specs = this.#parts.specs()
    if (specs.has(name)) return true
    return type !== undefined && (specs.has(type) || this.#speaks(type))
  }

  #speaks(protocol: string): boolean {
    const { protocols, specs } = this.#parts
    if (protocols) return protocols().has(protocol)
    return [...specs().values()].some((spec) => spec.protocol === protocol)
  }
}
