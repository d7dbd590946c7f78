import { z } from 'zod'
import type { Collection, Page, PageOptions, Store } from '#kernel'
import { type BatchRow, type ItemRow, type ItemStatus, itemRow } from './rows.ts'

/** How many rows are written or deleted at a time, so that calls come between. */
const atATime = 500

/** An item with what it says, as it is stored. */
export interface NewItem {
  readonly row: ItemRow
  readonly input: string
}

/** The items of batches in the store. What came of an item, and what that adds to its batch, is one change. */
export class ItemStore {
  readonly #store: Store
  readonly #batches: Collection<BatchRow>
  readonly #items: Collection<ItemRow>
  /** What items say and what was answered: JSON, sealed where that is asked for. */
  readonly #texts: Collection<{ body: string }>

  constructor(store: Store, batches: Collection<BatchRow>) {
    this.#store = store
    this.#batches = batches
    this.#items = store.collection('batch-items', {
      schema: itemRow,
      indexes: {
        batch: ({ batch, index }) => [[batch, index]],
        status: ({ batch, status, index }) => [[batch, status, index]],
      },
    })
    this.#texts = store.collection('batch-texts', { schema: z.object({ body: z.string() }) })
  }

  /** Stores the items of a batch that is none yet. */
  async add(items: AsyncIterable<NewItem>): Promise<void> {
    for await (const part of partsOf(items))
      await this.#store.transaction((tx) => {
        for (const { row, input } of part) {
          tx.put(this.#items, keyOf(row), row)
          tx.put(this.#texts, `${keyOf(row)} input`, { body: input })
        }
      })
  }

  get(batch: string, index: number): Promise<ItemRow | undefined> {
    return this.#items.get(keyOf({ batch, index }))
  }

  async textOf(
    item: Pick<ItemRow, 'batch' | 'index'>,
    which: 'input' | 'output',
  ): Promise<string | undefined> {
    return (await this.#texts.get(`${keyOf(item)} ${which}`))?.body
  }

  /** A page of items in the order of the inputs. */
  page(batch: string, status: ItemStatus | undefined, page: PageOptions): Promise<Page<ItemRow>> {
    return this.#items.list({ ...page, ...placeOf(batch, status) })
  }

  /** The places of the items of one status, in their order. */
  async placesOf(batch: string, status: ItemStatus): Promise<number[]> {
    const places: number[] = []
    for await (const [, { index }] of this.#items.scan(placeOf(batch, status))) places.push(index)
    return places
  }

  /**
   * Stores what came of an item, once: one that has ended stays as it is, and so does one of a batch that has ended. What it cost
   * counts either way.
   */
  async settle(item: ItemRow, output: string | undefined): Promise<void> {
    await this.#store.transaction((tx) => {
      const batch = tx.get(this.#batches, item.batch)
      if (!batch) return
      const now = tx.get(this.#items, keyOf(item))
      const counts = now?.status === 'pending' && now.round === item.round && batch.finished_at === undefined
      tx.put(this.#batches, batch.id, withSums(batch, item, counts))
      if (!counts) return
      tx.put(this.#items, keyOf(item), item)
      if (output !== undefined) tx.put(this.#texts, `${keyOf(item)} output`, { body: output })
    })
  }

  /** Has the failed items of a batch made again. */
  async reopen(batch: string): Promise<void> {
    for await (const part of partsOf(await this.placesOf(batch, 'failed')))
      await this.#store.transaction((tx) => {
        let reopened = 0
        for (const index of part) {
          const item = tx.get(this.#items, keyOf({ batch, index }))
          if (item?.status !== 'failed') continue
          const { error: _, trace_id: __, run: ___, ...rest } = item
          tx.put(this.#items, keyOf(item), { ...rest, status: 'pending', round: item.round + 1 })
          reopened += 1
        }
        tx.update(this.#batches, batch, (row) => row && { ...row, failed: row.failed - reopened })
      })
  }

  async delete(batch: string): Promise<void> {
    for await (const part of partsOf(this.#items.scan(placeOf(batch, undefined))))
      await this.#store.transaction((tx) => {
        for (const [key] of part) {
          tx.delete(this.#items, key)
          for (const which of ['input', 'output']) tx.delete(this.#texts, `${key} ${which}`)
        }
      })
  }
}

const keyOf = ({ batch, index }: Pick<ItemRow, 'batch' | 'index'>): string =>
  `${batch} ${String(index).padStart(6, '0')}`

const placeOf = (batch: string, status: ItemStatus | undefined) =>
  status === undefined ? { index: 'batch', equals: [batch] } : { index: 'status', equals: [batch, status] }

function withSums(batch: BatchRow, item: ItemRow, counts: boolean): BatchRow {
  const { tokens_in, tokens_out, cost_nano, attempts, status } = item
  return {
    ...batch,
    succeeded: batch.succeeded + (counts && status === 'succeeded' ? 1 : 0),
    failed: batch.failed + (counts && status === 'failed' ? 1 : 0),
    attempts: batch.attempts + attempts,
    tokens_in: batch.tokens_in + tokens_in,
    tokens_out: batch.tokens_out + tokens_out,
    cost_nano: batch.cost_nano + cost_nano,
  }
}

async function* partsOf<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T[]> {
  let part: T[] = []
  for await (const item of items) {
    part.push(item)
    if (part.length < atATime) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
