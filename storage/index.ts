import type { z } from 'zod'
import type { StoreErrorCode } from './errors.ts'

export { StoreError, type StoreErrorCode } from './errors.ts'

/** A value that an index can hold; `undefined` leaves the row out of the index. */
export type IndexValue = string | number | boolean | undefined

/**
 * What a collection is made of. The schema is applied to every write, and what it returns is stored; rows of the
 * same version come back as they were stored. So a change of the rows' shape, or of what an index function answers
 * for the same row, needs a new version. An index that is new, or gone, is noticed by its name.
 */
export interface CollectionOptions<T> {
  readonly schema: z.ZodType<T>
  /** Secondary indexes: an array puts the row under each of its values. NaN counts as no value. */
  readonly indexes?: Readonly<Record<string, (row: T) => IndexValue | readonly IndexValue[]>>
  /**
   * Version of the rows' shape, 1 by default. Rows of an older version go through `migrate`, then the schema, once,
   * at open. A row that fails either stays as it is, unreadable, and is tried again at the next open. Rows of a
   * newer version than this are refused with `VERSION_AHEAD`.
   */
  readonly version?: number
  readonly migrate?: (row: unknown, from: number) => unknown
  /**
   * Called before stored rows go through `migrate`, the schema and the indexes, with as many as are done together: for who
   * has to ask somebody else about them first. The functions then get these very objects.
   */
  readonly prepare?: (rows: readonly OlderRow[]) => Promise<void>
}

/** A row as it was stored, and its version. */
export interface OlderRow {
  readonly row: unknown
  readonly version: number
}

/**
 * Which rows, in which order. Without `index` the order is that of the ids; in an index it is that of the values
 * (booleans, numbers, strings), then of the ids. Text sorts by its UTF-8 bytes. A row that an index has under several
 * values is listed, and counted, once for each.
 */
export interface ListOptions {
  readonly index?: string
  /** Rows whose index value is this one; without it, all rows in the order of the index. */
  readonly equals?: Exclude<IndexValue, undefined>
  readonly limit?: number
  readonly offset?: number
  /** Newest (largest) first. */
  readonly reverse?: boolean
}

export interface Page<T> {
  readonly items: T[]
  /** How many rows match in all; kept as a count, not found by a scan. */
  readonly total: number
  /** Rows of this page that could not be read and were left out; absent when there were none. */
  readonly unreadable?: number
}

export interface Change<T> {
  readonly id: string
  readonly row: T | undefined
}

/**
 * Ordered rows by id (1 to 1024 characters, any but U+0000). A write that resolved is on disk (fsynced, in groups). A row, its index entries and the
 * counts change in one atomic batch. Writes to one id are serialised. All handles of one name share one state, and the
 * options of the handle made last hold for all of them.
 */
export interface Collection<T> {
  /** Throws `ROW_UNREADABLE` when what is stored cannot be read; listings leave such a row out. */
  get(id: string): Promise<T | undefined>
  put(id: string, row: T): Promise<void>
  /** Writes only when the id is free; false when it is taken. */
  create(id: string, row: T): Promise<boolean>
  /**
   * Compare-and-set in one step: reads the row, writes what `change` returns, and returns what was written. When
   * `change` returns `undefined`, the row stays as it is and `update` answers `undefined`. No other write to this id
   * happens in between. `change` is called at once, with engines that share perhaps again, and may not be asynchronous.
   */
  update(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined>
  /** True when there was such a row. */
  delete(id: string): Promise<boolean>
  list(options?: ListOptions): Promise<Page<T>>
  /** All rows of a listing, one at a time, from one snapshot. */
  scan(options?: ListOptions): AsyncIterable<[id: string, row: T]>
  count(options?: Pick<ListOptions, 'index' | 'equals'>): Promise<number>
  /**
   * Called after each acknowledged write of this process (and, with engines that share, of others). Who writes in another
   * thread is told that it is written when the listeners have done with it, and what they returned is settled.
   */
  watch(listener: (change: Change<T>) => void): () => void
}

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
   * Called before stored rows are indexed anew, with as many as are done together: for who has to ask somebody else about
   * them first. The functions then get these very objects.
   */
  readonly prepare?: (rows: readonly T[]) => Promise<void>
  /** Rows are queued this long at the most before they are written; 250 by default. */
  readonly flushMs?: number
  /** Bytes that may wait; beyond them `append` drops the row and counts it; 64 MB by default. */
  readonly maxQueueBytes?: number
  /**
   * Totals written in the same atomic batch as the rows, so that pruning rows never loses them. Called once a row;
   * `add` numbers to cells, named by any strings that sort by time first. Rows that are alike cost least when they
   * name the same array of cells.
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
  readonly limit?: number
  readonly offset?: number
  /** Newest first unless false. */
  readonly reverse?: boolean
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
  /** Indexes older rows for fields and numbers that are new, a block at a time; rows are appended in between. */
  prepare(): Promise<void>
  /** The row of this id, the newest when there are several. */
  get(id: string): Promise<T | undefined>
  body(id: string): Promise<string | undefined>
  /** Rows in the order they were appended, newest first; one without a `limit` holds every matching row. */
  list(query?: LogQuery): Promise<Page<T>>
  /** Rows of a query, newest first unless `reverse: false`, read block by block. */
  scan(query?: LogQuery): AsyncIterable<T>
  /** Cells whose name lies in [from, to), in order, with their summed totals. */
  totals(from: string, to: string): Promise<Array<[cell: string, totals: Record<string, number>]>>
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
  erase(match: (row: T) => boolean): Promise<number>
  status(): LogStatus
}

/** A gap-free, serialised sequence: each entry is made from the one before it. For ledgers. */
export interface Sequence<T> {
  /**
   * Resolves when the entry is on disk. Concurrent appends are put in one order and share an fsync. `make` may not be
   * asynchronous; when it throws, nothing is appended.
   */
  append(make: (previous: T | undefined, seq: number) => T): Promise<T>
  get(seq: number): Promise<T | undefined>
  /** Entries with `from <= seq < to`, in order. */
  scan(from?: number, to?: number): AsyncIterable<T>
  /** Seq of the last entry, 0 when there is none; the first entry has seq 1. */
  last(): Promise<number>
}

/** Durable integers that many calls add to; adds are summed in memory and written every 250 ms. */
export interface Counters {
  add(name: string, amount: number): void
  /** The value including what is not written yet. */
  get(name: string): number
  /** All counters whose name starts so, sorted by name. */
  entries(prefix?: string): Array<[name: string, value: number]>
  set(name: string, value: number): void
  /** Forgets counters whose name starts so. */
  clear(prefix: string): void
  /** Resolves when all values are fsynced. */
  flush(): Promise<void>
}

/** Something that a store noticed and survived. It names the place and never quotes a row. */
export interface StoreProblem {
  readonly code: StoreErrorCode
  /** The collection, log or sequence. */
  readonly part: string
  readonly id?: string
  readonly message: string
}

/** A part of the store under a name of its own. Names: `[a-z0-9_-]+`, joined by the engine. */
export interface Store {
  collection<T>(name: string, options: CollectionOptions<T>): Collection<T>
  log<T>(name: string, options: LogOptions<T>): Log<T>
  sequence<T>(name: string, schema: z.ZodType<T>): Sequence<T>
  /** Ready when it resolves: all values are in memory. */
  counters(name: string): Promise<Counters>
  namespace(name: string): Store
  /** Flushes every queue below this part; resolves when all is on disk. */
  flush(): Promise<void>
}

/** What lies under a name in the store. */
export interface StoredPart {
  readonly kind: 'collection' | 'log' | 'sequence' | 'counters'
  /** Names of its namespaces and its own, joined by slashes. */
  readonly path: string
  /** Rows, entries or counters. */
  readonly entries: number
}

export interface Engine extends Store {
  readonly name: string
  /** The parts whose path begins so, by kind and path, also those that nobody has asked for since the store was opened. */
  contents(prefix: string): Promise<StoredPart[]>
  /**
   * Deletes the parts whose path begins so, and their bytes from the disk. Handles that were made of them before find them
   * closed (`STORE_CLOSED`); later ones find them empty. When it is cut short, it can be done again.
   */
  erase(prefix: string): Promise<void>
  /** Rewrites the data on disk, so that the bytes of deleted and replaced rows leave it. Reads and writes all of it. */
  compact(): Promise<void>
  /** Flushes and closes; further writes reject. */
  close(): Promise<void>
}
