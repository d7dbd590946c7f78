import { createRequire } from 'node:module'
import type { Pool } from 'undici'

/** Where a request goes: the pool of its origin, and the path there. */
export interface PooledPath {
  readonly pool: Pool
  readonly path: string
}

interface Origin {
  pool: Pool
  /** When the pool takes no new requests any more, on the monotonic clock, milliseconds. */
  until: number
}

/** Addresses that are remembered: models are part of some providers' addresses, but there are not many of them. */
const mostAddresses = 1000

/**
 * One pool of connections for each origin. After its time a pool is retired as a whole: what runs on it ends on it, and
 * the next request opens another one, which asks for the address anew. (A pool that ages each of its connections looks
 * at all of them for every request.)
 */
export class Connections {
  readonly #lifeMs: number
  readonly #origins = new Map<string, Origin>()
  readonly #addresses = new Map<string, readonly [origin: string, path: string]>()
  readonly #retired = new Set<Pool>()

  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs
  }

  to(url: string): PooledPath {
    const [origin, path] = this.#addressOf(url)
    let found = this.#origins.get(origin)
    const now = performance.now()
    if (!found || now >= found.until) {
      if (found) this.#retire(found.pool)
      found = { pool: open(origin), until: now + this.#lifeMs }
      this.#origins.set(origin, found)
    }
    return { pool: found.pool, path }
  }

  /** Closes every connection; running requests are cut. */
  async close(): Promise<void> {
    const pools = [...this.#retired, ...Array.from(this.#origins.values(), ({ pool }) => pool)]
    this.#origins.clear()
    this.#retired.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #addressOf(url: string): readonly [origin: string, path: string] {
    let address = this.#addresses.get(url)
    if (!address) {
      const { origin, pathname, search } = new URL(url)
      if (this.#addresses.size === mostAddresses) this.#addresses.clear()
      address = [origin, pathname + search]
      this.#addresses.set(url, address)
    }
    return address
  }

  #retire(pool: Pool): void {
    this.#retired.add(pool)
    const gone = (): void => void this.#retired.delete(pool)
    pool.close().then(gone, gone)
  }
}

/** undici is loaded with the first origin: it is 10 MB, and 60 ms of a start. */
const load = (): typeof import('undici') => createRequire(import.meta.url)('undici')

const open = (origin: string): Pool =>
  new (load().Pool)(origin, {
    allowH2: true,
    connections: 1024,
    connectTimeout: 60_000,
    keepAliveTimeout: 30_000,
  })
