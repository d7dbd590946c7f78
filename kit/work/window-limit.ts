import { rateLimited } from '../errors.ts'
import { WindowCounts } from './window-counts.ts'

export interface WindowLimitOptions {
  /** How often something may happen under one name within a window. */
  readonly limit: number
  /** Length of a window in milliseconds. */
  readonly windowMs: number
  /** The message for a refused caller. */
  readonly refusal: (limit: number, leftS: number) => string
  /** Called with a name when it is refused, and with whether that is the first time in a window. */
  readonly exceeded?: (name: string, isFirst: boolean) => void
}

/** Limits how often something may happen under each name, and shows it in headers on every answer. A restart forgets it. */
export class WindowLimit {
  readonly #options: WindowLimitOptions
  readonly #counts: WindowCounts

  constructor(options: WindowLimitOptions) {
    this.#options = options
    this.#counts = new WindowCounts(options.windowMs)
  }

  /** Counts one more; throws `rate_limited` when the window's are used up. */
  take(name: string, header: (name: string, value: string) => void): void {
    const { limit, refusal, exceeded } = this.#options
    const { count, leftS } = this.#counts.add(name)
    header('x-ratelimit-limit', String(limit))
    header('x-ratelimit-remaining', String(Math.max(0, limit - count)))
    header('x-ratelimit-reset', String(leftS))
    if (count <= limit) return
    exceeded?.(name, count === limit + 1)
    throw rateLimited(refusal(limit, leftS), { retryAfterS: leftS })
  }
}
