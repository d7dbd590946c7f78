import { StoreError } from '../errors.ts'
import type { FieldValue, ListOptions } from '../index.ts'
import { prefixRange, sortableEntry, sortableValue, terminator } from './keys.ts'
import type { CollectionKeys } from './row-writer.ts'

interface KeyBounds {
  readonly gte: string
  readonly lt: string
}

/** A listing as a range of keys: of the rows themselves, or of index entries that name them. */
export interface ListingPlan {
  readonly range: KeyBounds
  /** Where it goes on, a key of the range; undefined for the first page. */
  readonly after: string | undefined
  readonly index: string | undefined
  /** What all keys of the rows, or of the index, begin with. */
  readonly prefix: string
  /** Values that each entry of a compound index has at the least. */
  readonly values: number
  /** Where the count is; undefined for a range, whose keys have to be counted. */
  readonly countKey: string | undefined
  readonly offset: number
  readonly limit: number
  readonly reverse: boolean
}

/** Throws `INDEX_UNKNOWN` or `QUERY_INVALID`. */
export function planListing(
  keys: CollectionKeys,
  indexes: readonly (readonly [name: string, unknown])[],
  options: ListOptions,
): ListingPlan {
  const { index, offset = 0, limit = Number.POSITIVE_INFINITY, reverse = false } = options
  if (!(offset >= 0) || !(limit >= 0)) throw invalid('limit and offset may not be negative.')
  const listed = index === undefined ? planRows(keys, options) : planEntries(keys, indexes, index, options)
  const after = options.after === undefined ? undefined : listed.prefix + placeOf(options.after, index)
  if (after !== undefined && !isWithin(after, listed.range))
    throw invalid('after is not a cursor of this listing.')
  return { ...listed, after, index, offset, limit, reverse }
}

/** Keys sort by their UTF-8 bytes, which is not the order in which texts compare. */
function isWithin(key: string, { gte, lt }: KeyBounds): boolean {
  const [bytes, first, end] = [key, gte, lt].map((text) => Buffer.from(text))
  return Buffer.compare(bytes!, first!) >= 0 && Buffer.compare(bytes!, end!) < 0
}

type Listed = Pick<ListingPlan, 'range' | 'prefix' | 'values' | 'countKey'>

function planRows(keys: CollectionKeys, { equals, from, to }: ListOptions): Listed {
  if (equals !== undefined) throw invalid('equals needs the index it applies to.')
  const { gte, lt } = prefixRange(keys.rows)
  const bound = (value: FieldValue): string => {
    if (typeof value !== 'string') throw invalid('An id is a text, and so are from and to without an index.')
    return keys.row(value)
  }
  const range = { gte: from === undefined ? gte : bound(from), lt: to === undefined ? lt : bound(to) }
  return { range, prefix: keys.rows, values: 0, countKey: isRange(from, to) ? undefined : keys.count }
}

function planEntries(
  keys: CollectionKeys,
  indexes: readonly (readonly [name: string, unknown])[],
  index: string,
  { equals, from, to }: ListOptions,
): Listed {
  if (!indexes.some(([name]) => name === index)) {
    const known = indexes.map(([name]) => name).join(', ') || 'none'
    throw new StoreError('INDEX_UNKNOWN', `There is no index "${index}". The indexes here: ${known}.`)
  }
  const value = equals === undefined ? undefined : sortableEntry(equals)
  if (equals !== undefined && value === undefined) throw invalid('NaN is not an index value.')
  const prefix = keys.entries(index)
  const within = keys.entries(index, value)
  if (!isRange(from, to))
    return { range: prefixRange(within), prefix, values: 0, countKey: keys.countOf(index, value) }
  const values = 1 + (value === undefined ? 0 : value.split(terminator).length)
  return { range: rangeWithin(within, from, to), prefix, values, countKey: undefined }
}

/** The keys whose next value lies between these, and is of their kind. */
function rangeWithin(prefix: string, from: FieldValue | undefined, to: FieldValue | undefined): KeyBounds {
  const [low, high] = [from, to].map((value) => (value === undefined ? undefined : sortableValue(value)))
  if ((from !== undefined && low === undefined) || (to !== undefined && high === undefined))
    throw invalid('NaN is not an index value.')
  const [kind] = low ?? high!
  if ((high ?? low!)[0] !== kind) throw invalid('from and to must be of one kind.')
  const all = prefixRange(prefix + kind)
  return { gte: low === undefined ? all.gte : prefix + low, lt: high === undefined ? all.lt : prefix + high }
}

const isRange = (from: unknown, to: unknown): boolean => from !== undefined || to !== undefined

/** The place of a key in its listing, as `after` takes it. */
export function cursorOf({ index = '', prefix }: ListingPlan, key: string): string {
  return Buffer.from(`${index}!${key.slice(prefix.length)}`).toString('base64url')
}

function placeOf(cursor: string, index = ''): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const start = `${index}!`
  if (!text.startsWith(start) || text.length === start.length)
    throw invalid('after is not a cursor of this listing.')
  return text.slice(start.length)
}

export const invalid = (message: string): StoreError => new StoreError('QUERY_INVALID', message)
