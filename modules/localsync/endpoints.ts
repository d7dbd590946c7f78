import type { Context, Provider } from '#kernel'
import { ProviderDirectory, ProviderProber } from '#provider'

/** A local server at its last check. */
export interface Endpoint {
  readonly provider: string
  readonly base_url: string
  readonly status: 'up' | 'down'
  /** Of the last list that it gave. */
  readonly models: string[]
  /** ISO 8601. */
  readonly checked_at: string
  /** For people; without secrets. */
  readonly message: string
}

/**
 * The local servers among the configured providers, and what they serve. Only addresses that the operator has configured as a
 * provider's are asked.
 */
export class Endpoints {
  readonly #context: Context<unknown>
  readonly #wanted: readonly string[]
  readonly #kept: { readonly known: Map<string, Endpoint>; holder: number }
  readonly #turn: number
  #running: Promise<void> | undefined

  /** Watches the named providers, or without names all that are on this machine or in its private network. */
  constructor(context: Context<unknown>, wanted: readonly string[]) {
    this.#context = context
    this.#wanted = wanted
    this.#kept = context.memory('endpoints', () => ({ known: new Map<string, Endpoint>(), holder: 0 }))
    this.#kept.holder += 1
    this.#turn = this.#kept.holder
  }

  #known(): Map<string, Endpoint> {
    return this.#kept.known
  }

  get all(): readonly Endpoint[] {
    return [...this.#known().values()]
  }

  find(provider: string): Endpoint | undefined {
    return this.#known().get(provider)
  }

  /** Whether a provider is up and has this model, by its own name for it. */
  serves(provider: string, model: string): boolean {
    const endpoint = this.#known().get(provider)
    return endpoint?.status === 'up' && endpoint.models.includes(model)
  }

  /** Asks all of them what they serve. Rejects while providers cannot be asked, such as at the start. */
  sync(): Promise<void> {
    this.#running ??= this.#askAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** A call has shown that a server does not answer; it gets no others until a check says that it does. */
  lost(provider: string, message: string): void {
    const known = this.#known().get(provider)
    if (known?.status === 'up') this.#note({ ...known, status: 'down', message })
  }

  /** Calls are routed as if nothing were known, unless a later instance has taken over. */
  forget(): void {
    if (this.#kept.holder !== this.#turn) return
    const directory = this.#context.find(ProviderDirectory)
    for (const provider of this.#known().keys()) directory?.served.set(provider, undefined)
    this.#known().clear()
  }

  async #askAll(): Promise<void> {
    const directory = this.#context.use(ProviderDirectory)
    const all = directory.providers.filter((provider) => this.#isLocal(provider))
    for (const { provider } of this.all) {
      if (all.some(({ name }) => name === provider)) continue
      directory.served.set(provider, undefined)
      this.#known().delete(provider)
    }
    await Promise.all(all.map((provider) => this.#ask(provider)))
  }

  async #ask(provider: Provider): Promise<void> {
    const { use, signal } = this.#context
    const probe = await use(ProviderProber).check(provider)
    if (signal.aborted) return
    const isUp = probe.status === 'healthy' || probe.status === 'degraded'
    const directory = use(ProviderDirectory)
    const models = isUp ? [...directory.namesOf(provider.name)] : (this.find(provider.name)?.models ?? [])
    // What a server that is down used to serve leads there still, where no other provider has it.
    directory.served.set(provider.name, names(models))
    this.#note({
      provider: provider.name,
      base_url: provider.baseUrl,
      status: isUp ? 'up' : 'down',
      models,
      checked_at: probe.checkedAt,
      message: probe.message,
    })
  }

  #note(endpoint: Endpoint): void {
    const { provider, status, message } = endpoint
    if (this.find(provider)?.status !== status) this.#context.report(status, `${provider}: ${message}`)
    this.#known().set(provider, endpoint)
  }

  #isLocal({ name, configured, local, spec, baseUrl }: Provider): boolean {
    if (!configured || spec.fallback || baseUrl === '') return false
    return this.#wanted.length > 0 ? this.#wanted.includes(name) : local
  }
}

/** Ollama lists `llama3.2:latest` for what people call `llama3.2`. */
const names = (models: readonly string[]): ReadonlyMap<string, string> =>
  new Map([
    ...models.filter((name) => name.endsWith(':latest')).map((name) => [name.slice(0, -7), name] as const),
    ...models.map((name) => [name, name] as const),
  ])
