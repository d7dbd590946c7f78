import { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  type Page,
  type PageOptions,
  type Store,
  type Transaction,
} from '#kernel'
import { mergedPage } from '#kit'
import { ItemStore } from './item-store.ts'
import { type BatchRow, type BatchStatus, batchRow, isOver } from './rows.ts'

/** Stands in the index for every user, or every status. No id is empty. */
const any = ''

/** Stands in the index for what is shared. No id is it. */
const sharedPlace = 'shared'

/** Which batches of a listing. */
export interface BatchFilter {
  readonly user?: string | undefined
  readonly status?: BatchStatus | undefined
}

/** Batches in the store, with their items. */
export class BatchStore {
  readonly batches: Collection<BatchRow>
  readonly items: ItemStore
  readonly #store: Store
  /** Batches by the keys that clients gave, so that a repeated request makes no other one. */
  readonly #asked: Collection<{ batch: string; sha256: string }>
  /** Batches whose items are being written, and that are none yet. */
  readonly #drafts: Collection<{ created_at: string }>

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.batches = store.collection('batches', {
      schema: batchRow,
      indexes: {
        listed: ({ principal, visibility, status, created_at }) =>
          [principal.userId, any, ...(visibility === 'shared' ? [sharedPlace] : [])].flatMap((user) =>
            [status, any].map((state) => [user, state, created_at]),
          ),
        user: ({ principal }) => principal.userId,
        open_of: (row) => (isOver(row) ? undefined : (row.principal.userId ?? row.principal.keyId)),
        expires: (row) => (isOver(row) ? undefined : row.expires_at),
        finished: ({ finished_at }) => finished_at,
      },
    })
    this.items = new ItemStore(store, this.batches)
    this.#asked = store.collection('batches-asked', {
      schema: z.object({ batch: z.string(), sha256: z.string() }),
    })
    this.#drafts = store.collection('batch-drafts', {
      schema: z.object({ created_at: z.string() }),
      indexes: { created: ({ created_at }) => created_at },
    })
  }

  /** Says that items of a batch are about to be written. What is cut off before `add` is deleted later. */
  draft(id: string): Promise<void> {
    return this.#drafts.put(id, { created_at: new Date().toISOString() })
  }

  /** Deletes what was drafted before that time, and has come to nothing. */
  async pruneDrafts(to: string): Promise<void> {
    for await (const [id] of this.#drafts.scan({ index: 'created', to })) await this.discard(id)
  }

  /** Deletes the items of a batch that has come to nothing. */
  async discard(id: string): Promise<void> {
    await this.items.delete(id)
    await this.#drafts.delete(id)
  }

  /**
   * Stores a new batch, whose items are there. `asked` is the key of its request with the hash of what it asks for: when there is
   * a batch of that key, its id is returned in place of the new one's, and nothing is stored. `also` makes the job.
   */
  add(
    row: BatchRow,
    asked: { readonly key: string; readonly sha256: string } | undefined,
    also: (transaction: Transaction) => void,
  ): Promise<string> {
    return this.#store.transaction((tx) => {
      const before = asked && tx.get(this.#asked, asked.key)
      if (before && before.sha256 !== asked?.sha256)
        throw conflict('This Idempotency-Key was used for another batch.', { param: 'Idempotency-Key' })
      if (before) return before.batch
      if (asked) tx.put(this.#asked, asked.key, { batch: row.id, sha256: asked.sha256 })
      tx.create(this.batches, row.id, row)
      tx.delete(this.#drafts, row.id)
      also(tx)
      return row.id
    })
  }

  /** Newest first; those that one user sees, or all. */
  list({ user, status }: BatchFilter, page: PageOptions): Promise<Page<BatchRow>> {
    const range = (place: string) => ({ index: 'listed', equals: placeOf({ user: place, status }) })
    if (user === undefined) return this.batches.list({ ...page, ...range(any), reverse: true })
    const ranges = [range(user), range(sharedPlace)]
    return mergedPage(this.batches, ranges, ({ created_at }) => created_at, page)
  }

  count(filter: BatchFilter): Promise<number> {
    return this.batches.count({ index: 'listed', equals: placeOf(filter) })
  }

  /** Changes a batch, with what `also` does in the same transaction; undefined where `change` makes no other row of it. */
  change(
    id: string,
    change: (row: BatchRow) => BatchRow | undefined,
    also: (transaction: Transaction, row: BatchRow) => void = () => {},
  ): Promise<BatchRow | undefined> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.batches, id)
      const next = row && change(row)
      if (!next) return undefined
      tx.put(this.batches, id, next)
      also(tx, next)
      return next
    })
  }

  /** Deletes a batch with all that is kept of it; false when there is none. */
  async delete(id: string): Promise<boolean> {
    const row = await this.batches.get(id)
    if (!row) return false
    // As a draft it is found again where this is cut off.
    await this.#store.transaction((tx) => {
      tx.put(this.#drafts, id, { created_at: row.created_at })
      if (row.asked_by !== undefined) tx.delete(this.#asked, row.asked_by)
      tx.delete(this.batches, id)
    })
    await this.discard(id)
    return true
  }
}

const placeOf = ({ user, status }: BatchFilter) => [user ?? any, status ?? any]
