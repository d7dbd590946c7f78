import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Collection, Completion, Store } from '#kernel'

const entry = z.object({
  body: z.custom<Completion>((value) => typeof value === 'object' && value !== null),
  /** Milliseconds since the epoch. */
  stored_at: z.number(),
  expires_at: z.number(),
  /** Who gave the answer, for what a hit saves. */
  origin: z.object({ provider: z.string(), model: z.string() }).optional(),
})

export type CacheEntry = z.infer<typeof entry>

/** Answers in memory, and behind them in the store, where they survive a restart. */
export class Entries {
  readonly #memory: LRUCache<string, CacheEntry>
  readonly #stored: Collection<CacheEntry>
  readonly #maxEntries: number

  constructor(store: Store, memory: LRUCache<string, CacheEntry>, maxEntries: number) {
    this.#memory = memory
    this.#maxEntries = maxEntries
    this.#stored = store.collection('answers', {
      schema: entry,
      indexes: { stored_at: (row) => row.stored_at },
    })
  }

  async find(key: string): Promise<CacheEntry | undefined> {
    const found = this.#memory.get(key) ?? (await this.#stored.get(key))
    if (!found || found.expires_at <= Date.now()) return undefined
    if (!this.#memory.has(key)) this.#memory.set(key, found)
    return found
  }

  async add(key: string, found: CacheEntry): Promise<void> {
    this.#memory.set(key, found)
    await this.#stored.put(key, found)
  }

  /** Deletes what has expired, and the oldest beyond the limit. */
  async sweep(): Promise<void> {
    let excess = (await this.#stored.count()) - this.#maxEntries
    for await (const [key, row] of this.#stored.scan({ index: 'stored_at' })) {
      if (excess <= 0 && row.expires_at > Date.now()) continue
      await this.#stored.delete(key)
      this.#memory.delete(key)
      excess -= 1
    }
  }
}

/** Memory for answers, bounded in number and in bytes. */
export function createMemory(maxEntries: number, maxBytes: number): LRUCache<string, CacheEntry> {
  return new LRUCache({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ body }) => Buffer.byteLength(JSON.stringify(body)),
  })
}
