import type { IndexValue, Page } from './collection.ts'

/**
 * A log of immutable rows (plain JSON), each with an id of its own and, when asked, a body kept apart from it. The
 * functions are called once a row, when it is appended; a row for which one of them throws is dropped and counted.
 */
export interface LogOptions<T> {
  readonly id: (row: T) => string
  /** Milliseconds since the epoch; ranges and pruning go by it. */
  readonly time: (row: T) => number
  /**
   * Fields that listings filter by. Each is answered from the index, alone or combined. A field that is new by its
   * name is indexed for older rows when it is first asked for.
   */
  readonly fields?: Readonly<Record<string, (row: T) => IndexValue | readonly IndexValue[]>>
  /**
   * Numbers that listings take a minimum of. They are kept beside the rows, so that rows are counted without being
   * read, whatever the minimum is. A number that is new by its name is found for older rows as a field is.
   */
  readonly numbers?: Readonly<Record<string, (row: T) => number | undefined>>
  /**
   * Called before stored rows are indexed anew, with a whole batch of them, so that the owner can first ask others about them.
   * The functions then get these very objects.
   */
  readonly prepare?: (rows: readonly T[]) => Promise<void>
  /** Rows are queued this long at the most before they are written; 250 by default. */
  readonly flushMs?: number
  /** Bytes that may wait; beyond them `append` drops the row and counts it; 64 MB by default. */
  readonly maxQueueBytes?: number
  /**
   * Totals written in the same atomic batch as the rows, so that pruning rows never loses them. Called once a row;
   * `add` whole numbers to cells, named by any strings that sort by time first. Rows that are alike cost least when they
   * name the same array of cells. Sums end at the largest whole number that is exact, and what is no whole number
   * is not added.
   */
  readonly rollup?: (
    row: T,
    add: (cells: readonly string[], totals: Readonly<Record<string, number>>) => void,
  ) => void
}

export interface LogQuery {
  /** All must hold; a list of values means any of them. A field whose value is `undefined` is no condition. */
  readonly where?: Readonly<Record<string, IndexValue | readonly IndexValue[]>>
  /** Numbers that must be there, and be this or more. One whose value is `undefined` is no condition. */
  readonly atLeast?: Readonly<Record<string, number | undefined>>
  /** Milliseconds, inclusive. */
  readonly from?: number
  /** Milliseconds, exclusive. */
  readonly to?: number
  /** A test on the row itself, for what no index answers; the total then counts by reading rows. */
  readonly filter?: (row: never) => boolean
  /**
   * Rows that come after those of another page, by its `next`, in the same order. Rows that are appended or deleted meanwhile
   * make no other row come twice or never. Throws `QUERY_INVALID` for what is no place in a log.
   */
  readonly after?: string
  readonly limit?: number
  readonly offset?: number
  /** Newest first unless false. */
  readonly reverse?: boolean
}

/** Which rows an erasure looks at, and what it deletes of those that match. */
export interface ErasingOptions {
  /** Milliseconds, inclusive. Blocks without a row of the range are not read. */
  readonly from?: number
  /** Milliseconds, exclusive. */
  readonly to?: number
  /** Deletes the bodies only; the rows stay, and rows without a body do not count. */
  readonly bodiesOnly?: boolean
}

/** Cells with their summed totals, in the order of their names. */
export interface TotalsPage {
  readonly cells: Array<[cell: string, totals: Record<string, number>]>
  /** Cells that hold something other than sums and were left out; absent when there were none. */
  readonly unreadable?: number
}

/** How a log's queue is doing. */
export interface LogStatus {
  /** Rows that wait to be written. */
  readonly depth: number
  /** Their size. */
  readonly bytes: number
  /** Rows that were refused since the start: queue full, not JSON, disk failed, or the store was closed. */
  readonly dropped: number
}

/**
 * Append-only rows. Appending only queues; what is queued is written together, with a posting list for each value of
 * a field, so a row costs microseconds, and a filtered page or total reads postings instead of rows.
 */
export interface Log<T> {
  /**
   * Turns the row (and its body) into text, queues it and returns; visible to queries of this process immediately.
   * The body is not asked for when the queue is full.
   */
  append(row: T, body?: () => string | undefined): void
  /** Writes what is queued; resolves when it is fsynced. In between, rows are written without an fsync. */
  flush(): Promise<void>
  /**
   * Indexes older rows for fields and numbers that are new, and rows whose index a repair took away, a block at a time; rows
   * are appended in between.
   */
  prepare(): Promise<void>
  /** The row of this id, the newest when there are several. */
  get(id: string): Promise<T | undefined>
  body(id: string): Promise<string | undefined>
  /** The place behind the newest row of this id, for `after`; undefined when there is no such row. */
  placeOf(id: string): Promise<string | undefined>
  /**
   * Rows in the order they were appended, newest first; one without a `limit` holds every matching row. Pages of queries with a
   * `filter` have no `next`.
   */
  list(query?: LogQuery): Promise<Page<T>>
  /** Rows of a query, newest first unless `reverse: false`, read block by block. */
  scan(query?: LogQuery): AsyncIterable<T>
  /** Cells whose name lies in [from, to). */
  totals(from: string, to: string): Promise<TotalsPage>
  /** Deletes the cells whose name lies in [from, to); returns how many. */
  forgetTotals(from: string, to: string): Promise<number>
  /** Deletes rows (and bodies) older than this; returns how many. Totals stay. */
  prune(beforeMs: number): Promise<number>
  /** Deletes the bodies of rows older than this and returns how many; the rows stay. */
  pruneBodies(beforeMs: number): Promise<number>
  /**
   * Deletes the rows (and bodies) that match, wherever they are; for erasure on request. They are out of reach when
   * it resolves; their bytes leave the disk when the engine next compacts.
   */
  erase(match: (row: T) => boolean, options?: ErasingOptions): Promise<number>
  status(): LogStatus
}
