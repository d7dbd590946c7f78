import { StoreError } from '../errors.ts'
import type { LogQuery, Page } from '../index.ts'
import { findId } from './block.ts'
import { apart, decodeLines } from './chunk.ts'
import { decompress } from './compression.ts'
import type { LogBlocks, LogView } from './log-blocks.ts'
import { conditionsOf, type Selection, selectRows } from './log-query.ts'

const chunksAtOnce = 16

/** Answers queries on one view of a log. */
export class LogReader<T> {
  readonly #blocks: LogBlocks<T>
  readonly #view: LogView

  constructor(blocks: LogBlocks<T>, view: LogView) {
    this.#blocks = blocks
    this.#view = view
  }

  async list(query: LogQuery): Promise<Page<T>> {
    const { offset = 0, limit = Number.POSITIVE_INFINITY } = query
    if (query.filter) return this.#listFiltered(query, offset, limit)
    const conditions = conditionsOf(query, this.#blocks)
    const after = placeOf(query.after)
    const numbers: number[] = []
    let total = 0
    let behind = 0
    for await (const selection of selectRows(this.#blocks, this.#view, conditions, query)) {
      total += selection.count
      if (numbers.length > limit) continue
      const rest = restOf(selection, query, after)
      const from = Math.max(0, offset - behind)
      // One more than the page has: whether there is another page.
      const wanted = Math.min(limit + 1 - numbers.length, rest.count - from)
      if (wanted > 0) for (const row of inOrder(rest, query).slice(from, from + wanted)) numbers.push(row)
      behind += rest.count
    }
    const hasNext = numbers.length > limit
    if (hasNext) numbers.pop()
    const next = hasNext && numbers.length > 0 ? cursorOf(numbers.at(-1)!) : undefined
    const items: T[] = []
    for await (const rows of this.#rows(numbers)) items.push(...rows)
    const unreadable = numbers.length - items.length
    return {
      items,
      total,
      ...(next !== undefined && { next }),
      ...(unreadable > 0 && { unreadable }),
    }
  }

  async *scan(query: LogQuery): AsyncIterable<T> {
    const { offset = 0, limit = Number.POSITIVE_INFINITY } = query
    let skip = offset
    let left = limit
    if (left <= 0) return
    for await (const row of this.#matching(query)) {
      if (skip-- > 0) continue
      yield row
      if (--left <= 0) return
    }
  }

  async row(id: string): Promise<T | undefined> {
    const number = await this.#find(id)
    if (number === undefined) return undefined
    for await (const [row] of this.#rows([number])) return row
    return undefined
  }

  async place(id: string): Promise<string | undefined> {
    const number = await this.#find(id)
    return number === undefined ? undefined : cursorOf(number)
  }

  async body(id: string): Promise<string | undefined> {
    const number = await this.#find(id)
    if (number === undefined) return undefined
    const { database } = this.#blocks.backing
    const { chunkRows } = this.#blocks.format
    const { snapshot } = this.#view
    const { keys } = this.#blocks
    const read = (key: string) =>
      database.get<string, Uint8Array>(key, { snapshot, valueEncoding: 'view' as const })
    const chunk = await read(keys.bodies(Math.floor(number / chunkRows)))
    const slot = this.#blocks.lastBodies.decode(chunk)[number % chunkRows]
    if (slot !== apart) return slot
    const large = await read(keys.largeBody(number))
    return large && decompress(large)
  }

  async #listFiltered(query: LogQuery, offset: number, limit: number): Promise<Page<T>> {
    const items: T[] = []
    let total = 0
    for await (const row of this.#matching(query)) {
      if (total >= offset && items.length < limit) items.push(row)
      total++
    }
    return { items, total }
  }

  async *#matching(query: LogQuery): AsyncIterable<T> {
    const conditions = conditionsOf(query, this.#blocks)
    const filter = query.filter as ((row: T) => boolean) | undefined
    const after = placeOf(query.after)
    for await (const selection of selectRows(this.#blocks, this.#view, conditions, query, after)) {
      for await (const rows of this.#rows(inOrder(restOf(selection, query, after), query))) {
        yield* filter ? rows.filter(filter) : rows
      }
    }
  }

  /** The newest row of this id: in the open block, else in a block whose range of ids includes it. */
  async #find(id: string): Promise<number | undefined> {
    const { open, sealed, next, snapshot } = this.#view
    const { blockRows } = this.#blocks.format
    if (id === '') return undefined
    const openFirst = next - (next % blockRows)
    const inOpen = next === openFirst ? -1 : open.ids.lastIndexOf(id, next - openFirst - 1)
    if (inOpen >= 0) return openFirst + inOpen
    for (const { block, minId, maxId } of sealed.toReversed()) {
      if (id < minId || id > maxId) continue
      const ids = await this.#blocks.backing.database.get(this.#blocks.keys.ids(block), { snapshot })
      const row = ids === undefined ? -1 : findId(ids, id)
      if (row >= 0) return block * blockRows + row
    }
    return undefined
  }

  /** The rows of these numbers, in their order, a few chunks at a time; what cannot be read is left out. */
  async *#rows(numbers: readonly number[]): AsyncIterable<T[]> {
    const { chunkRows } = this.#blocks.format
    for (let at = 0; at < numbers.length; ) {
      const chunks = new Set<number>()
      let end = at
      for (; end < numbers.length; end++) {
        const chunk = Math.floor(numbers[end]! / chunkRows)
        if (chunks.size === chunksAtOnce && !chunks.has(chunk)) break
        chunks.add(chunk)
      }
      const lines = await this.#lines([...chunks])
      const rows: T[] = []
      for (const number of numbers.slice(at, end)) {
        const line = lines.get(Math.floor(number / chunkRows))?.[number % chunkRows]
        const row = line ? this.#blocks.parse(line, number) : undefined
        if (row !== undefined) rows.push(row)
      }
      yield rows
      at = end
    }
  }

  async #lines(chunks: readonly number[]): Promise<Map<number, string[]>> {
    const keys = chunks.map((chunk) => this.#blocks.keys.rows(chunk))
    const stored = await this.#blocks.backing.database.getMany<string, Uint8Array>(keys, {
      snapshot: this.#view.snapshot,
      valueEncoding: 'view',
    })
    return new Map(chunks.map((chunk, at) => [chunk, decodeLines(stored[at])]))
  }
}

/** The rows of a selection by their number in the log, in the order of the query. */
function inOrder({ first, rows }: Selection, { reverse = true }: LogQuery): number[] {
  const numbers = Array.from(rows(), (row) => first + row)
  return reverse ? numbers.reverse() : numbers
}

/** The rows of a selection that come behind the row of this number, in the order of the query. */
function restOf(
  selection: Selection,
  { reverse = true }: LogQuery,
  after: number | undefined,
): Pick<Selection, 'first' | 'count' | 'rows'> {
  if (after === undefined) return selection
  const { first } = selection
  const place = after - first
  if (reverse ? place <= 0 : place < 0) return reverse ? none : selection
  const rows = Array.from(selection.rows()).filter((row) => (reverse ? row < place : row > place))
  return { first, count: rows.length, rows: () => rows }
}

const none = { first: 0, count: 0, rows: () => [] }

/** The place of a row, as `after` takes it: rows keep their numbers. */
const cursorOf = (number: number): string => Buffer.from(`${number}`).toString('base64url')

function placeOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new StoreError('QUERY_INVALID', 'after is not a cursor of a log.')
}
