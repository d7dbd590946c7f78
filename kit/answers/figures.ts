import type { CacheFigures } from '../../contract/answer-caches.ts'
import type { Counters } from '../../storage/index.ts'

type Sum = 'hits' | 'misses' | 'saved_nano' | 'saved_tokens'

/** What the cache has done, over threads and restarts. A kill loses a quarter of a second. */
export class Figures {
  readonly #counters: Counters
  /** Keys without an answer when they were looked at last. */
  #gone = new Set<string>()

  constructor(counters: Counters) {
    this.#counters = counters
  }

  miss(): void {
    this.#add('misses', 1)
  }

  /** An answer of so many tokens was given again. */
  hit(key: string, tokens: number): void {
    this.#add('hits', 1)
    this.#add('saved_tokens', tokens)
    this.#counters.add(`of ${key}`, 1)
  }

  /** Nano-dollars that a call would have cost. */
  save(nano: number): void {
    this.#add('saved_nano', nano)
  }

  hitsOf(key: string): number {
    return this.#counters.get(`of ${key}`)
  }

  get sums(): Pick<CacheFigures, 'hits' | 'misses' | 'savedNano' | 'savedTokens'> {
    const of = (sum: Sum): number => this.#counters.get(sum)
    return {
      hits: of('hits'),
      misses: of('misses'),
      savedNano: of('saved_nano'),
      savedTokens: of('saved_tokens'),
    }
  }

  /**
   * Forgets the hits of answers that are gone. The first time one is not found, it may be in the memory of another thread, which
   * stores it soon.
   */
  sweep(has: (key: string) => boolean): void {
    const gone = new Set<string>()
    for (const [name] of this.#counters.entries('of ')) if (!has(name.slice(3))) gone.add(name)
    for (const name of gone) if (this.#gone.has(name)) this.#counters.delete(name)
    this.#gone = gone
  }

  #add(sum: Sum, amount: number): void {
    this.#counters.add(sum, amount)
  }
}
