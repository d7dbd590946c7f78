import { Pool } from 'undici'
import type { Timeouts } from '../call/call.ts'
import type { Cancel } from '../call/cancel.ts'
import type { Target, UpstreamRequest } from './provider.ts'
import { UpstreamAnswer } from './upstream-answer.ts'

export interface TransportOptions {
  /** How long a connection takes new requests; then a new one asks for the address anew. Ten minutes by default. */
  readonly connectionMs?: number
}

/**
 * Connections to providers, one pool for each origin. Those that offer HTTP/2 get it: a burst then shares a connection
 * instead of waiting for a handshake each. Others have a connection for each request under way.
 */
export class Transport {
  readonly #pools = new Map<string, Pool>()
  readonly #connectionMs: number

  constructor({ connectionMs = 10 * 60_000 }: TransportOptions = {}) {
    this.#connectionMs = connectionMs
  }

  /** Sends a request; resolves when the status line is there. Rejects with an UpstreamError or the cancel's reason. */
  send(
    request: UpstreamRequest,
    target: Target,
    cancel: Cancel,
    timeouts: Timeouts,
  ): Promise<UpstreamAnswer> {
    const url = new URL(request.url)
    const answer = new UpstreamAnswer(target, cancel, timeouts)
    this.#pool(url.origin).dispatch(
      {
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      answer,
    )
    return answer.head
  }

  /** Closes every connection; what still runs is cut. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin)
    if (!pool) {
      pool = new Pool(origin, {
        allowH2: true,
        connections: 1024,
        connectTimeout: 60_000,
        keepAliveTimeout: 30_000,
        clientTtl: this.#connectionMs,
      })
      this.#pools.set(origin, pool)
    }
    return pool
  }
}
