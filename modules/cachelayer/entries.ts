import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Collection, Completion, ListOptions, Store } from '#kernel'

const entry = z.object({
  body: z.custom<Completion>((value) => typeof value === 'object' && value !== null),
  /** Milliseconds since the epoch. */
  stored_at: z.number(),
  expires_at: z.number(),
  /** The provider of the answer, for what a hit saves. */
  origin: z.object({ provider: z.string(), model: z.string() }).optional(),
})

export type CacheEntry = z.infer<typeof entry>

/** Answers in memory. */
export interface Kept {
  readonly answers: LRUCache<string, CacheEntry>
  /** Keys of those that are not in the store yet. */
  readonly unsaved: Set<string>
}

/** Keys of what is in the store, once they have been read. */
export interface Stored {
  keys: Set<string> | undefined
}

/** Rows that are written, or read, before others get their turn. */
const batch = 32

/**
 * Answers in memory, and behind them in the store, where they survive a restart. They are written now and then, and
 * only those that are still kept: of thousands a second most would be deleted again before a call asked for them.
 */
export class Entries {
  readonly #kept: Kept
  readonly #stored: Stored
  readonly #rows: Collection<CacheEntry>
  readonly #maxEntries: number

  constructor(store: Store, kept: Kept, stored: Stored, maxEntries: number) {
    this.#kept = kept
    this.#stored = stored
    this.#maxEntries = maxEntries
    this.#rows = store.collection('answers', {
      schema: entry,
      indexes: { stored_at: (row) => row.stored_at, expires_at: (row) => row.expires_at },
    })
  }

  /** Takes note of what comes into the store and leaves it; returns what ends that. */
  watch(): () => void {
    return this.#rows.watch(({ id, row }) => {
      if (row) this.#stored.keys?.add(id)
      else this.#stored.keys?.delete(id)
    })
  }

  /** Reads which keys are in the store, so that no call asks it in vain; until then every call asks it. */
  async load(): Promise<void> {
    if (this.#stored.keys) return
    const keys = new Set<string>()
    const end = this.#rows.watch(({ id, row }) => void (row ? keys.add(id) : keys.delete(id)))
    try {
      for await (const [key] of this.#rows.scan()) keys.add(key)
      this.#stored.keys = keys
    } finally {
      end()
    }
  }

  /** A promise only when it takes a look into the store. */
  find(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined> {
    const { keys } = this.#stored
    const found = this.#kept.answers.get(key)
    if (found) return unexpired(found)
    return keys && !keys.has(key) ? undefined : this.#findStored(key)
  }

  /** Keeps an answer; `bytes` is its size where that is known. */
  add(key: string, found: CacheEntry, bytes?: number): void {
    const { answers, unsaved } = this.#kept
    answers.set(key, found, bytes === undefined ? {} : { size: bytes })
    if (answers.has(key)) unsaved.add(key)
    if (unsaved.size > 2 * this.#maxEntries) this.#forgetGone()
  }

  /**
   * Writes the entries given so far that are not in the store yet. An entry that memory had no more room for is not written:
   * under load that is most of them, and only entries that have stayed for a while are worth a write.
   */
  async save(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (const entries of batches(this.#unsavedUntil(until))) {
      await Promise.all(entries.map(([key, found]) => this.#rows.put(key, found)))
    }
  }

  /** Deletes what has expired, and the oldest beyond the limit. */
  async sweep(): Promise<void> {
    await this.#deleteAll({ index: 'expires_at', to: Date.now() + 1 })
    const excess = (await this.#rows.count()) - this.#maxEntries
    if (excess > 0) await this.#deleteAll({ index: 'stored_at', limit: excess })
  }

  async #deleteAll(which: ListOptions): Promise<void> {
    const { answers } = this.#kept
    for await (const [key, row] of this.#rows.scan(which)) {
      await this.#rows.delete(key)
      if (answers.peek(key)?.stored_at === row.stored_at) answers.delete(key)
    }
  }

  async #findStored(key: string): Promise<CacheEntry | undefined> {
    const found = await this.#rows.get(key)
    if (!found || !unexpired(found)) return undefined
    this.#kept.answers.set(key, found)
    return found
  }

  /** Takes them from those that are not saved. */
  #unsavedUntil(until: number): (readonly [string, CacheEntry])[] {
    const { answers, unsaved } = this.#kept
    const taken: (readonly [string, CacheEntry])[] = []
    for (const key of unsaved) {
      const found = answers.peek(key)
      if (found && found.stored_at > until) continue
      unsaved.delete(key)
      if (found && unexpired(found)) taken.push([key, found])
    }
    return taken
  }

  #forgetGone(): void {
    const { answers, unsaved } = this.#kept
    for (const key of unsaved) if (!answers.has(key)) unsaved.delete(key)
  }
}

const unexpired = (found: CacheEntry): CacheEntry | undefined =>
  found.expires_at > Date.now() ? found : undefined

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += batch) yield items.slice(at, at + batch)
}

/** Memory for answers, bounded in number and in bytes. */
export const createKept = (maxEntries: number, maxBytes: number): Kept => ({
  answers: new LRUCache({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ body }) => Buffer.byteLength(JSON.stringify(body)),
  }),
  unsaved: new Set(),
})
