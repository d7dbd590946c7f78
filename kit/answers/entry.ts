import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { CachedWhich } from '../../contract/answer-caches.ts'
import type { Collection, Store } from '../../storage/index.ts'
import type { Completion } from '../canonical/forms.ts'
import type { Seal } from '../records/body-seals.ts'
import type { Awaitable } from '../work/continue-with.ts'

const stored = z.object({
  /** Text where it is sealed. */
  body: z.union([z.custom<Completion>((value) => typeof value === 'object' && value !== null), z.string()]),
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

/** An answer as it lies in the store. */
export type StoredEntry = z.infer<typeof stored>

export interface CacheEntry extends StoredEntry {
  readonly body: Completion
  /** Seals its body before it is written, where that is asked for; in memory only. */
  readonly seal?: Awaitable<Seal> | undefined
}

/** Answers by their keys. */
export const answersIn = (store: Store): Collection<StoredEntry> =>
  store.collection('answers', {
    schema: stored,
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
  { asked, stored_at }: StoredEntry,
  { id, userId, model, at }: CachedWhich & { readonly at: number },
): boolean =>
  stored_at <= at &&
  (id === undefined || id === key) &&
  (userId === undefined || userId === asked?.user_id) &&
  (model === undefined || model === asked?.model)

export const unexpired = <E extends StoredEntry>(found: E): E | undefined =>
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
  answers: new LRUCache<string, CacheEntry>({ max: maxEntries, maxSize: maxBytes, sizeCalculation: sizeOf }),
  unsaved: new Set(),
  saving: Promise.resolve(),
  cleared: undefined,
})

export const sizeOf = ({ body, bytes }: StoredEntry): number =>
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
