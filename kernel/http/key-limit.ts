import { LRUCache } from 'lru-cache'
import { rateLimited } from '../errors.ts'

const windowMs = 60_000

/** A number of requests a minute for each key, told in headers on every answer. */
export class KeyLimit {
  readonly #limit: number
  readonly #windows = new LRUCache<string, { start: number; used: number }>({ max: 10_000 })

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts a request; throws when the minute's are used up. */
  take(keyId: string, header: (name: string, value: string) => void): void {
    const now = Date.now()
    const current = this.#windows.get(keyId)
    const window = current && now - current.start < windowMs ? current : { start: now, used: 0 }
    if (window !== current) this.#windows.set(keyId, window)
    window.used += 1
    const resetS = Math.max(1, Math.ceil((window.start + windowMs - now) / 1000))
    header('x-ratelimit-limit', String(this.#limit))
    header('x-ratelimit-remaining', String(Math.max(0, this.#limit - window.used)))
    header('x-ratelimit-reset', String(resetS))
    if (window.used > this.#limit) {
      throw rateLimited(
        `More than ${this.#limit} management requests in a minute; try again in ${resetS} s.`,
        {
          retryAfterS: resetS,
        },
      )
    }
  }
}
