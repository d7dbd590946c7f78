import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'

/** Names that are remembered at once. */
const mostNames = 10_000

/** The counts under a name since its window began. */
export interface WindowCount {
  readonly count: number
  /** Until the window ends, in whole seconds, at least one. */
  readonly leftS: number
}

/**
 * Counts what happens under each name, in windows that begin with the first time. It remembers 10,000 names, and of more it
 * forgets those that came longest ago.
 */
export class WindowCounts {
  readonly #windowMs: number
  readonly #windows = new LRUCache<string, { readonly start: number; count: number }>(atMost(mostNames))

  /** `windowMs` in milliseconds. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Counts one more. */
  add(name: string): WindowCount {
    const now = Date.now()
    const current = this.#windows.get(name)
    const window = current && now - current.start < this.#windowMs ? current : { start: now, count: 0 }
    if (window !== current) this.#windows.set(name, window)
    window.count += 1
    const leftS = Math.max(1, Math.ceil((window.start + this.#windowMs - now) / 1000))
    return { count: window.count, leftS }
  }
}
