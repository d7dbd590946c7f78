import { z } from 'zod'
import type { Collection, LedgerQuery, Store } from '#kernel'
import { type Columns, ColumnsBuilder, columnsOf, rowsWhere } from './columns.ts'
import { foundIn } from './segment.ts'
import type { Segments } from './segments.ts'

/** Entries of a block. Those behind the last whole block are read themselves. */
const blockEntries = 1024

/** What the entries of one stretch of the chain are found by. */
interface Block {
  /** The last entry's number and hash: a block of a chain that was lost with the power has another. */
  readonly seq: number
  readonly hash: string
  readonly columns: Columns
}

/**
 * An index of the chain, in blocks of equal numbers of entries. Each block is derived from its entries alone, so it does not matter
 * which thread makes it, or how often.
 */
export class IndexBlocks {
  readonly #segments: Segments
  readonly #blocks: Collection<Block>
  /** Blocks that are known to be of this chain. */
  #known: number | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(store: Store, segments: Segments) {
    this.#segments = segments
    this.#blocks = store.collection('ledger_blocks', { schema: z.custom<Block>() })
  }

  /** Makes the blocks that are missing, of so many entries at the most. */
  catchUp(most = Number.POSITIVE_INFINITY): Promise<void> {
    const turn = this.#turn.then(() => this.#catchUp(most))
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The numbers of the entries that meet conditions, ascending, stretch by stretch from the newest to the oldest. */
  async *find(query: LedgerQuery): AsyncGenerator<readonly number[]> {
    await this.catchUp()
    // More may be made while it goes on, of entries that are found behind these.
    const known = this.#known!
    yield await this.#findBehind(known * blockEntries, query)
    for await (const [, { seq, columns }] of this.#blocks.scan({ to: idOf(known), reverse: true }))
      yield rowsWhere(columns, query).map((row) => seq - blockEntries + 1 + row)
  }

  async #findBehind(last: number, query: LedgerQuery): Promise<readonly number[]> {
    const found: number[] = []
    for await (const segment of this.#segments.from(last + 1))
      for (const row of rowsWhere(segment.columns ?? columnsOf(foundIn(segment)), query))
        if (segment.first + row > last) found.push(segment.first + row)
    return found
  }

  async #catchUp(most: number): Promise<void> {
    const { seq: last } = await this.#segments.head()
    this.#known ??= await this.#stored()
    const missing = Math.min(Math.floor(last / blockEntries), this.#known + Math.ceil(most / blockEntries))
    if (missing <= this.#known) return
    let next = new ColumnsBuilder()
    let seq = this.#known * blockEntries
    for await (const segment of this.#segments.from(seq + 1)) {
      let of = segment.first
      for (const found of foundIn(segment)) {
        if (of++ <= seq) continue
        next.add(found)
        seq += 1
        if (seq % blockEntries > 0) continue
        const { hash } = segment.seq === seq ? segment : (await this.#segments.get(seq))!
        await this.#blocks.put(idOf(this.#known), { seq, hash, columns: next.columns })
        this.#known += 1
        next = new ColumnsBuilder()
        if (this.#known === missing) return
      }
    }
  }

  /** How many blocks there are of this chain. Those behind are of entries that were not on disk when the power went. */
  async #stored(): Promise<number> {
    for (;;) {
      const { items } = await this.#blocks.list({ reverse: true, limit: 1 })
      const [last] = items
      if (!last) return 0
      const number = last.seq / blockEntries
      if ((await this.#segments.get(last.seq))?.hash === last.hash) return number
      await this.#blocks.delete(idOf(number - 1))
    }
  }
}

/** So that the order of the ids is that of the blocks. */
const idOf = (block: number): string => String(block).padStart(12, '0')
