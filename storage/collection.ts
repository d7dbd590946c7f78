import type { z } from 'zod'

/** A value that an index can hold; `undefined` leaves the row out of the index. */
export type IndexValue = string | number | boolean | undefined

/** A value that an index holds. */
export type FieldValue = Exclude<IndexValue, undefined>

/**
 * The value of an index for a row: one value, or several in an array. A value that is an array itself is a compound one, such
 * as `[[row.user, row.at]]`, which sorts by its first value, then by its second; it is none when one of its values is none.
 */
export type IndexAnswer = IndexValue | readonly (IndexValue | readonly IndexValue[])[]

/**
 * Defines a collection. The schema is applied to every write, and its result is stored; rows of the same version come back as
 * they were stored. So a change of the rows' shape, or of an index function's answer for the same row, needs a new version. The
 * store notices a new or a removed index by its name.
 */
export interface CollectionOptions<T> {
  readonly schema: z.ZodType<T>
  /** Secondary indexes: an array puts the row under each of its values. NaN counts as no value. */
  readonly indexes?: Readonly<Record<string, (row: T) => IndexAnswer>>
  /**
   * Version of the rows' shape, 1 by default. Rows of an older version go through `migrate`, then the schema, once,
   * at open. A row that fails either stays as it is, unreadable, and is tried again at the next open. Rows of a
   * newer version than this are refused with `VERSION_AHEAD`.
   */
  readonly version?: number
  readonly migrate?: (row: unknown, from: number) => unknown
  /**
   * Called before stored rows go through `migrate`, the schema and the indexes, with a whole batch of them, so that the owner
   * can first ask others about them. The functions then get these very objects.
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
  /**
   * Rows whose index value is this one, or, in an array, whose compound value begins with these; without it, all rows in the
   * order of the index.
   */
  readonly equals?: FieldValue | readonly FieldValue[]
  /**
   * Rows whose value is this or more, and of its kind: the id without `index`, the index value, or the value that comes next in
   * a compound index after those of `equals`; one that has none there is refused as soon as a row shows it. The rows of a range
   * are counted by passing over its keys.
   */
  readonly from?: FieldValue
  /** As `from`: rows whose value is less. */
  readonly to?: FieldValue
  /**
   * Rows that come after those of another page, by its `next`, in the same order. Rows that are added or deleted meanwhile
   * make no other row come twice or never. Throws `QUERY_INVALID` for what is no place in this listing.
   */
  readonly after?: string
  readonly limit?: number
  readonly offset?: number
  /** Newest (largest) first. */
  readonly reverse?: boolean
}

/** Which part of a listing. */
export type PageOptions = Pick<ListOptions, 'after' | 'limit' | 'offset'>

export type CountOptions = Pick<ListOptions, 'index' | 'equals' | 'from' | 'to'>

export interface Page<T> {
  readonly items: T[]
  /** How many rows match in all, on whatever page; kept as a count, not found by a scan, except for a range. */
  readonly total: number
  /** Where the next page begins, for `after`; absent on the last one. */
  readonly next?: string
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
  count(options?: CountOptions): Promise<number>
  /**
   * Called after each acknowledged write of this process (and, with engines that share, of others). A write in another thread
   * resolves when the listeners are done with it and their promises are settled.
   */
  watch(listener: (change: Change<T>) => void): () => void
}
