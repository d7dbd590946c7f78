import { StoreError } from '../errors.ts'
import type { ListOptions } from '../index.ts'
import type { Snapshot } from './backing.ts'
import type { Database } from './group-commit.ts'
import { prefixRange, sortableValue } from './keys.ts'
import type { CollectionKeys } from './row-writer.ts'

const rowsPerPage = 256
const highWaterMarkBytes = 256 * 1024

/** A listing as a range of keys: of the rows themselves, or of index entries that name them. */
export interface ListingPlan {
  readonly range: { gte: string; lt: string }
  readonly ofEntries: boolean
  readonly countKey: string
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
  const { index, equals, offset = 0, limit = Number.POSITIVE_INFINITY, reverse = false } = options
  if (!(offset >= 0) || !(limit >= 0))
    throw new StoreError('QUERY_INVALID', 'limit and offset may not be negative.')
  if (index === undefined) {
    if (equals !== undefined) throw new StoreError('QUERY_INVALID', 'equals needs the index it applies to.')
    return { range: prefixRange(keys.rows), ofEntries: false, countKey: keys.count, offset, limit, reverse }
  }
  if (!indexes.some(([name]) => name === index)) {
    const known = indexes.map(([name]) => name).join(', ') || 'none'
    throw new StoreError('INDEX_UNKNOWN', `There is no index "${index}". The indexes here: ${known}.`)
  }
  const value = equals === undefined ? undefined : sortableValue(equals)
  if (equals !== undefined && value === undefined)
    throw new StoreError('QUERY_INVALID', 'NaN is not an index value.')
  const range = prefixRange(keys.entries(index, value))
  return { range, ofEntries: true, countKey: keys.countOf(index, value), offset, limit, reverse }
}

/** The ids and stored texts of a listing, in pages, as of the snapshot. */
export async function* entryPages(
  database: Database,
  keys: CollectionKeys,
  plan: ListingPlan,
  snapshot: Snapshot,
): AsyncIterable<[id: string, text: string][]> {
  let left = plan.limit
  if (left === 0) return
  const range = await skip(database, plan, snapshot)
  if (!range) return
  const options = { ...range, reverse: plan.reverse, snapshot, highWaterMarkBytes }
  const iterator = plan.ofEntries ? database.keys(options) : database.iterator(options)
  try {
    while (left > 0) {
      const found = await iterator.nextv(Math.min(left, rowsPerPage))
      if (found.length === 0) return
      left -= found.length
      yield await withTexts(database, keys, found, snapshot)
    }
  } finally {
    await iterator.close()
  }
}

/** The range without its first `offset` keys, which are passed over without reading rows. */
async function skip(database: Database, plan: ListingPlan, snapshot: Snapshot) {
  const { range, reverse } = plan
  if (plan.offset === 0) return range
  const iterator = database.keys({ ...range, reverse, snapshot, highWaterMarkBytes })
  try {
    let left = plan.offset + 1
    for (;;) {
      const found = await iterator.nextv(Math.min(left, 4096))
      left -= found.length
      const last = found.at(-1)
      if (last === undefined) return undefined
      if (left === 0) return reverse ? { gte: range.gte, lte: last } : { gte: last, lt: range.lt }
    }
  } finally {
    await iterator.close()
  }
}

async function withTexts(
  database: Database,
  keys: CollectionKeys,
  found: readonly (string | [string, string])[],
  snapshot: Snapshot,
): Promise<[id: string, text: string][]> {
  const ids = found.filter((entry) => typeof entry === 'string').map((key) => keys.idOfEntry(key))
  if (ids.length === 0) {
    return found
      .filter((entry) => typeof entry !== 'string')
      .map(([key, text]) => [key.slice(keys.rows.length), text])
  }
  const texts = await database.getMany(
    ids.map((id) => keys.row(id)),
    { snapshot },
  )
  return ids.map((id, at) => [id, texts[at] ?? ''])
}
