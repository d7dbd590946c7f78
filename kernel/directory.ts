import { hash } from 'node:crypto'
import { closest } from 'fastest-levenshtein'
import { LRUCache } from 'lru-cache'
import type { Config } from './config.ts'
import { badRequest, notFound } from './errors.ts'
import { type Credential, type Provider, type ProviderSpec, providerSpec } from './provider.ts'
import { compileGlobs } from './when.ts'

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

type Environment = Readonly<Record<string, string | undefined>>

/** The providers as manifests, configuration and environment make them, and which of them gets a model. */
export class Directory {
  readonly #config: Pick<Config, 'providers' | 'routes'>
  readonly #env: Environment
  #listed = new Map<string, Listed>()
  #protocolSpecs = new Map<string, ProviderSpec>()
  readonly #routes: readonly {
    matches: (model: string) => boolean
    provider: string
    model: string | undefined
    match: string
  }[]
  readonly #resolved = new LRUCache<string, readonly Route[]>({ max: 5000 })

  constructor(config: Pick<Config, 'providers' | 'routes'>, env: Environment) {
    this.#config = config
    this.#env = env
    this.#routes = config.routes.map(({ match, provider, model }) => ({
      matches: compileGlobs([match]),
      provider,
      model,
      match,
    }))
  }

  /** Takes in the providers that are switched on; the configuration's own come on top. */
  update(specs: ReadonlyMap<string, ProviderSpec>): void {
    this.#protocolSpecs = new Map(specs)
    const names = new Set([...Object.keys(this.#config.providers), ...specs.keys()])
    this.#listed = new Map()
    for (const name of names) {
      const provider = this.#build(name)
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
   * Where a model may go, best first. `provider/model` says it outright; then the routes of the configuration; then
   * the providers that know the name, those with a key first. Throws a not found with near names when nobody does.
   */
  resolve(model: string, forced: string | undefined): readonly Route[] {
    if (forced !== undefined) {
      const provider = this.get(forced)
      const bare = model.startsWith(`${forced}/`) ? model.slice(forced.length + 1) : model
      return [{ provider, model: bare, reason: 'X-Provider' }]
    }
    let routes = this.#resolved.get(model)
    if (!routes) {
      routes = this.#look(model)
      this.#resolved.set(model, routes)
    }
    return routes
  }

  #look(model: string): readonly Route[] {
    const slash = model.indexOf('/')
    const named = slash > 0 ? this.find(model.slice(0, slash)) : undefined
    if (named) return [{ provider: named, model: model.slice(slash + 1), reason: 'named in the model' }]
    const route = this.#routes.find(({ matches }) => matches(model))
    if (route) {
      return [
        { provider: this.get(route.provider), model: route.model ?? model, reason: `route ${route.match}` },
      ]
    }
    const serving = [...this.#listed.values()].flatMap(({ provider, serves }) =>
      serves(model) ? [provider] : [],
    )
    const known = [
      ...serving.filter(({ configured }) => configured),
      ...serving.filter(({ configured }) => !configured),
      ...this.#fallbacks(),
    ]
    if (known.length === 0) throw this.#unknown(model)
    return known.map((provider) => ({
      provider,
      model,
      reason: provider.spec.fallback ? 'no other provider is configured' : `${provider.name} serves ${model}`,
    }))
  }

  #fallbacks(): Provider[] {
    const others = this.providers.filter(({ spec }) => !spec.fallback)
    return others.some(({ configured }) => configured)
      ? []
      : this.providers.filter(({ spec }) => spec.fallback)
  }

  #unknown(model: string): Error {
    const names = this.names
    const near = names.length > 0 ? closest(model, names) : undefined
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    return notFound(
      `No provider serves the model ${model}.${hint} Write provider/model to name the provider outright.`,
      {
        param: 'model',
      },
    )
  }

  /** Model names that are known exactly. */
  get names(): string[] {
    return this.providers.flatMap(({ spec }) => spec.models.filter((name) => !/[*?]/.test(name)))
  }

  #build(name: string): Provider | undefined {
    const entry = this.#config.providers[name]
    const own = this.#protocolSpecs.get(name)
    const base = own ?? (entry?.type === undefined ? undefined : this.#protocolSpecs.get(entry.type))
    if (!base && !entry?.type) return undefined
    const spec = providerSpec.parse({
      ...(own ?? {
        protocol: base?.protocol ?? entry!.type,
        operations: base?.operations,
        quirks: base?.quirks,
      }),
      ...(entry?.models ? { models: entry.models } : {}),
    })
    const baseUrl =
      entry?.baseUrl ?? (spec.base_url_env && this.#env[spec.base_url_env]) ?? spec.base_url ?? ''
    const { keys, keySource } = this.#keys(name, spec)
    const optional = spec.key !== 'required' || (entry?.baseUrl !== undefined && !own)
    return {
      name,
      spec,
      protocol: spec.protocol,
      baseUrl: baseUrl.replace(/\/+$/, ''),
      headers: {
        ...spec.headers,
        ...(entry?.orgId === undefined ? {} : { 'openai-organization': entry.orgId }),
        ...entry?.headers,
      },
      keys,
      keySource,
      configured: keys.length > 0 || (optional && (entry !== undefined || spec.key === 'none')),
    }
  }

  #keys(name: string, spec: ProviderSpec): { keys: Credential[]; keySource: Provider['keySource'] } {
    const entry = this.#config.providers[name]
    const secret = spec.key_env.map((variable) => this.#env[variable]).find((value) => value)
    if (secret) return { keys: [credential(name, secret, 1)], keySource: 'environment' }
    const configured = entry?.keys ?? (entry?.apiKey ? [{ apiKey: entry.apiKey, weight: 1 }] : [])
    const keys = configured
      .filter(({ apiKey }) => apiKey !== '')
      .map(({ apiKey, weight }) => credential(name, apiKey, weight))
    return { keys, keySource: keys.length > 0 ? 'config' : 'none' }
  }
}

/** A key of the operator's. Its id says nothing of it, and stays the same while the key does. */
function credential(provider: string, secret: string, weight: number): Credential {
  const id = `${provider}/${hash('sha256', secret).slice(0, 12)}`
  return { id, secret, hint: secret.slice(-4), weight, owner: 'global' }
}
