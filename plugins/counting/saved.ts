import { z } from 'zod'
import type { Collection, Store } from '#kernel'
import type { Ledger } from './ledger.ts'
import type { LedgerState } from './ledger-state.ts'

const row = z.strictObject({
  kind: z.enum(['concurrency', 'sliding', 'bucket', 'day', 'month']),
  count: z.array(z.number()),
})

/** How many counts are written in one turn, so that calls are not held up. */
const mostAtOnce = 200
/** How many are written each time: names that clients make up must not keep the disk busy. */
const mostATime = 2_000

/** Keeps counts on disk, a moment after they changed. */
export class Saved {
  readonly #rows: Collection<z.infer<typeof row>>
  readonly #ledger: Ledger
  readonly #state: LedgerState
  #last: Promise<void> = Promise.resolve()

  constructor(store: Store, ledger: Ledger, state: LedgerState) {
    this.#rows = store.collection('counts', { schema: row })
    this.#ledger = ledger
    this.#state = state
  }

  /** Takes in what was kept. */
  async load(): Promise<void> {
    for await (const [key, { kind, count }] of this.#rows.scan()) this.#ledger.unpack(key, kind, count)
    this.#state.isLoaded = true
  }

  /**
   * Writes counts that changed, the first 2,000 of them; resolves when they are on disk. A count whose write fails is written
   * later.
   */
  write(most = mostATime): Promise<void> {
    this.#last = this.#last.catch(() => {}).then(() => this.#write(most))
    return this.#last
  }

  /** Writes all that changed. */
  flush(): Promise<void> {
    return this.write(Number.POSITIVE_INFINITY)
  }

  async #write(most: number): Promise<void> {
    const keys = [...this.#state.dirty].slice(0, most)
    for (let from = 0; from < keys.length; from += mostAtOnce)
      await this.#writeAtOnce(keys.slice(from, from + mostAtOnce))
  }

  async #writeAtOnce(keys: readonly string[]): Promise<void> {
    const { dirty } = this.#state
    for (const key of keys) dirty.delete(key)
    try {
      await Promise.all(this.#ledger.packed(keys).map(([key, kept]) => this.#store(key, kept)))
    } catch (error) {
      for (const key of keys) dirty.add(key)
      throw error
    }
  }

  async #store(key: string, kept: z.infer<typeof row> | undefined): Promise<void> {
    const { stored } = this.#state
    if (kept) {
      stored.add(key)
      await this.#rows.put(key, kept)
    } else if (stored.delete(key)) await this.#rows.delete(key)
  }
}
