import {
  type Arrangement,
  Cancel,
  type Credential,
  internalError,
  isGatewayError,
  type Protocol,
  type Provider,
} from '#kernel'
import { hideKey } from './delivery/attempt.ts'
import { addressAdvice } from './delivery/destination.ts'
import type { Directory } from './directory.ts'
import { forgetKey, readyTarget } from './kit/key-exchange.ts'
import type { Transport } from './transport/transport.ts'

/** The result of a real request to a provider. */
export interface Probe {
  readonly provider: string
  readonly status: 'healthy' | 'degraded' | 'down' | 'unconfigured'
  readonly latencyMs: number | undefined
  /** For people; without secrets. */
  readonly message: string
  /** The provider said no to the key itself. */
  readonly refused?: boolean
  /** ISO 8601. */
  readonly checkedAt: string
}

const timeouts = { connectMs: 5000, firstByteMs: 10_000, idleMs: 10_000 }
/** An answer slower than this is called degraded. */
const slowMs = 5000

/** Asks providers whether they are there: with a real, cheap request and a real key. */
export class Prober {
  readonly #on: () => Arrangement
  readonly #directory: Directory
  readonly #transport: Transport
  readonly #last = new Map<string, Probe>()

  constructor(on: () => Arrangement, directory: Directory, transport: Transport) {
    this.#on = on
    this.#directory = directory
    this.#transport = transport
  }

  /** What the last check said, if there was one. */
  last(provider: string): Probe | undefined {
    return this.#last.get(provider)
  }

  /** The result for a user's own key concerns that user alone: it is reported, and neither kept nor learnt from. */
  async check(provider: Provider, key: Credential | undefined = provider.keys[0]): Promise<Probe> {
    const probe = await this.#ask(provider, key)
    if (key?.owner !== 'user') this.#last.set(provider.name, probe)
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
    if (provider.unreadable) return result('down', provider.unreadable.message)
    if (!provider.configured && !key) return result('unconfigured', 'It has no key.')
    const address = addressAdvice(provider)
    if (address !== undefined) return result('unconfigured', address)
    const protocol = this.#on().protocols.get(provider.protocol)
    if (!protocol) throw internalError(`The protocol ${provider.protocol} is not switched on.`)
    if (protocol.answer) return result('healthy', 'It answers from inside the gateway.', 0)
    const target = { provider, model: '', key }
    const started = performance.now()
    try {
      const { services } = this.#on()
      const ready = await readyTarget(target, services)
      const request = await protocol.check(ready)
      const answer = await this.#transport.send(request, target, new Cancel(), timeouts)
      const body = await answer.whole()
      const ms = Math.round(performance.now() - started)
      if (answer.status >= 400) {
        const refused = answer.status === 401 || answer.status === 403
        if (refused) forgetKey(target, ready, services)
        return {
          ...result('down', hideKey(protocol.error(answer, body, target), target).message, ms),
          refused,
        }
      }
      if (key?.owner !== 'user') this.#learn(provider, protocol, body)
      return ms > slowMs ? result('degraded', 'It answers slowly.', ms) : result('healthy', 'It answers.', ms)
    } catch (error) {
      const ms = Math.round(performance.now() - started)
      return result('down', isGatewayError(error) ? error.message : 'The check failed.', ms)
    }
  }

  /** The answer may list the provider's models; one that is no list says as little as none. */
  #learn(provider: Provider, protocol: Protocol, body: Buffer): void {
    try {
      const names = protocol.models?.(body)
      if (names) this.#directory.learn(provider.name, names)
    } catch {
      // Some providers answer a check with something else, and are there nevertheless.
    }
  }
}
