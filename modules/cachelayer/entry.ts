import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { CachedWhich, Collection, Completion, Store } from '#kernel'

const entry = z.object({
  body: z.custom<Completion>((value) => typeof value === 'object' && value !== null),
  /** Milliseconds since the epoch. */
  stored_at: z.number(),
  expires_at: z.number(),
  /** The provider of the answer, for what a hit saves. */
  origin: z.object({ provider: z.string(), model: z.string() }).optional(),
  /** The call that it was made for. */
  asked: z.object({ user_id: z.string().optional(), project: z.string(), model: z.string() }).optional(),
  bytes: z.int().optional(),
  /** Its own; absent in rows of earlier versions, which are not listed. */
  key: z.string().optional(),
})

export type CacheEntry = z.infer<typeof entry>

/** Answers by their keys. */
export const answersIn = (store: Store): Collection<CacheEntry> =>
  store.collection('answers', {
    schema: entry,
    indexes: {
      stored_at: (row) => row.stored_at,
      listed: ({ key, stored_at }) => (key === undefined ? undefined : stored_at),
      expires_at: (row) => row.expires_at,
      user: ({ asked, stored_at }) => [[asked?.user_id, asked?.model, stored_at]],
      model: ({ asked, stored_at }) => [[asked?.model, stored_at]],
    },
  })

const clearing = z.object({
  id: z.string().optional(),
  userId: z.string().optional(),
  model: z.string().optional(),
  /** Newer answers stay. */
  at: z.number(),
})

/** Which answers are to go, in words that threads can read. */
export type Clearing = z.infer<typeof clearing>

export const clearingsIn = (store: Store): Collection<Clearing> =>
  store.collection('clearings', { schema: clearing })

/** Whether an answer is among those that are cleared. */
export const isCleared = (
  key: string,
  { asked, stored_at }: CacheEntry,
  { id, userId, model, at }: CachedWhich & { readonly at: number },
): boolean =>
  stored_at <= at &&
  (id === undefined || id === key) &&
  (userId === undefined || userId === asked?.user_id) &&
  (model === undefined || model === asked?.model)

export const unexpired = (found: CacheEntry): CacheEntry | undefined =>
  found.expires_at > Date.now() ? found : undefined

/** Answers in memory. */
export interface Kept {
  readonly answers: LRUCache<string, CacheEntry>
  /** Keys of those that are not in the store yet. */
  readonly unsaved: Set<string>
  /** Settles when those that were taken to be saved are. */
  saving: Promise<unknown>
  /** What was cleared last: it may be on its way from the store into memory. */
  cleared: Clearing | undefined
}

/** Memory for answers, bounded in number and in bytes. */
export const createKept = (maxEntries: number, maxBytes: number): Kept => ({
  answers: new LRUCache({ max: maxEntries, maxSize: maxBytes, sizeCalculation: sizeOf }),
  unsaved: new Set(),
  saving: Promise.resolve(),
  cleared: undefined,
})

export const sizeOf = ({ body, bytes }: CacheEntry): number =>
  bytes ?? Buffer.byteLength(JSON.stringify(body))

/** How many answers are in memory and in the store, and their bytes. */
export function heldIn({ answers, unsaved }: Kept, { keys }: Stored): { entries: number; bytes: number } {
  const sizes = new Map(keys)
  for (const key of unsaved) {
    const found = answers.peek(key)
    if (found) sizes.set(key, sizeOf(found))
  }
  return { entries: sizes.size, bytes: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0) }
}

/** Keys of what is in the store, with its size, once they have been read. */
export interface Stored {
  keys: Map<string, number> | undefined
}
