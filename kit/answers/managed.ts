import type { AnswerCache, CachedAnswer, CachedWhich } from '../../contract/answer-caches.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ListOptions } from '../../storage/index.ts'
import type { Entries } from './entries.ts'
import { answersIn, clearingsIn, isCleared, type StoredEntry, sizeOf } from './entry.ts'
import type { Figures } from './figures.ts'

/** Rows that are deleted at a time. */
const batch = 32
const order = 'last'

type Parts = Pick<Context<unknown>, 'id' | 'store' | 'inEachThread'>

interface ManagedCache {
  /** Deletes what was stored until a time, in the memory of this thread and in the store. */
  clearUntil(at: number): Promise<number>
  countOf(userId: string): Promise<number>
}

/** The cache as it is listed and cleared over all threads, each of which has answers in memory. */
export function managed(
  { id: name, store, inEachThread }: Parts,
  entries: Entries,
  figures: Figures,
  shownAs: Pick<AnswerCache, 'kind' | 'verification'>,
): AnswerCache & ManagedCache {
  const rows = answersIn(store)
  const orders = clearingsIn(store)
  const saveAll = inEachThread('save', () => entries.save())
  const dropAll = inEachThread('drop', async () => {
    const which = await orders.get(order)
    if (which) entries.drop(which)
  })

  let turn: Promise<unknown> = Promise.resolve()
  /** One at a time, because threads are told only of the last. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  const shown = (row: StoredEntry, key = row.key!): CachedAnswer => ({
    id: key,
    model: row.asked?.model,
    provider: row.origin?.provider,
    userId: row.asked?.user_id,
    project: row.asked?.project,
    bytes: sizeOf(row),
    hits: figures.hitsOf(key),
    storedAt: row.stored_at,
    expiresAt: row.expires_at,
  })

  /** Deletes rows of these answers that were stored until then. */
  async function deleteRows(which: CachedWhich & { readonly at: number }): Promise<number> {
    let deleted = 0
    let waiting: Promise<boolean>[] = []
    const settle = async (): Promise<void> => {
      for (const wasThere of await Promise.all(waiting)) if (wasThere) deleted += 1
      waiting = []
    }
    for await (const [key, row] of rows.scan(rangeOf(which))) {
      if (!isCleared(key, row, which)) continue
      waiting.push(rows.delete(key))
      if (waiting.length === batch) await settle()
    }
    await settle()
    return deleted
  }

  return {
    name,
    ...shownAs,
    figures: () => ({ ...entries.held, ...figures.sums }),
    async list(which, page) {
      await saveAll()
      const { items, ...rest } = await rows.list({
        index: 'listed',
        ...rangeOf(which),
        reverse: true,
        ...page,
      })
      return { ...rest, items: items.map((row) => shown(row)) }
    },
    async get(key) {
      await saveAll()
      const row = await rows.get(key)
      return row && shown(row, key)
    },
    /** Rows go after all answers were stored, and memory, which fills from them, goes last. */
    clear: (which) =>
      inTurn(async () => {
        const at = Date.now()
        await saveAll()
        await orders.put(order, { ...which, at })
        const deleted = await deleteRows({ ...which, at })
        await dropAll()
        return deleted
      }),
    async countOf(userId) {
      await saveAll()
      return rows.count({ index: 'user', equals: [userId] })
    },
    async clearUntil(at) {
      entries.drop({ at })
      return deleteRows({ at })
    },
  }
}

/** The index that finds these answers, or more. */
function rangeOf({ userId, model, id }: CachedWhich): ListOptions {
  if (id !== undefined) return { from: id, to: `${id} ` }
  if (userId !== undefined) return { index: 'user', equals: model === undefined ? [userId] : [userId, model] }
  if (model !== undefined) return { index: 'model', equals: [model] }
  return {}
}
