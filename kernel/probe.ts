import { Cancel } from './cancel.ts'
import { internalError, isUpstreamError } from './errors.ts'
import type { Credential, Provider } from './provider.ts'
import type { Registry } from './registry.ts'
import type { Transport } from './transport.ts'

/** What a real request to a provider has shown. */
export interface Probe {
  readonly provider: string
  readonly status: 'healthy' | 'degraded' | 'down' | 'unconfigured'
  readonly latencyMs: number | undefined
  /** For people; without secrets. */
  readonly message: string
  /** ISO 8601. */
  readonly checkedAt: string
}

const timeouts = { connectMs: 5000, firstByteMs: 10_000, idleMs: 10_000 }
/** An answer slower than this is called degraded. */
const slowMs = 5000

/** Asks providers whether they are there: with a real, cheap request and a real key. */
export class Prober {
  readonly #registry: Registry
  readonly #transport: Transport
  readonly #last = new Map<string, Probe>()

  constructor(registry: Registry, transport: Transport) {
    this.#registry = registry
    this.#transport = transport
  }

  /** What the last check said, if there was one. */
  last(provider: string): Probe | undefined {
    return this.#last.get(provider)
  }

  async check(provider: Provider, key: Credential | undefined = provider.keys[0]): Promise<Probe> {
    const probe = await this.#ask(provider, key)
    this.#last.set(provider.name, probe)
    return probe
  }

  async #ask(provider: Provider, key: Credential | undefined): Promise<Probe> {
    const result = (status: Probe['status'], message: string, latencyMs?: number): Probe => ({
      provider: provider.name,
      status,
      latencyMs,
      message,
      checkedAt: new Date().toISOString(),
    })
    if (!provider.configured && !key) return result('unconfigured', 'There is no key for it.')
    const protocol = this.#registry.generation.protocols.get(provider.protocol)
    if (!protocol) throw internalError(`The protocol ${provider.protocol} is not switched on.`)
    if (protocol.answer) return result('healthy', 'It answers from inside the gateway.', 0)
    const target = { provider, model: '', key }
    const started = performance.now()
    try {
      const answer = await this.#transport.send(protocol.check(target), target, new Cancel(), timeouts)
      const body = await answer.whole()
      const ms = Math.round(performance.now() - started)
      if (answer.status >= 400) return result('down', protocol.error(answer, body, target).message, ms)
      return ms > slowMs ? result('degraded', 'It answers slowly.', ms) : result('healthy', 'It answers.', ms)
    } catch (error) {
      const ms = Math.round(performance.now() - started)
      return result('down', isUpstreamError(error) ? error.message : 'The check failed.', ms)
    }
  }
}
