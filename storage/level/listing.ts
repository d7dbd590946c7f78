import type { Snapshot } from './backing.ts'
import type { Database } from './group-commit.ts'
import { terminator } from './keys.ts'
import { invalid, type ListingPlan } from './listing-plan.ts'
import type { CollectionKeys } from './row-writer.ts'

const rowsPerPage = 256
const keysAtOnce = 4096
/** So few are read sooner than another thread is asked for them. */
const rowsAtOnce = 16
const highWaterMarkBytes = 256 * 1024

/** A row of a listing, and the key that it is listed by. */
export interface ListedRow {
  readonly key: string
  readonly id: string
  readonly text: string
}

/** The rows of a listing, in pages, as of the snapshot. Throws `QUERY_INVALID` where an index has no value to range over. */
export async function* rowPages(
  database: Database,
  keys: CollectionKeys,
  plan: ListingPlan,
  snapshot: Snapshot,
): AsyncIterable<ListedRow[]> {
  let left = plan.limit
  if (left === 0) return
  const range = await skip(database, plan, snapshot)
  if (!range) return
  const options = { ...range, reverse: plan.reverse, snapshot, highWaterMarkBytes }
  const iterator = plan.index === undefined ? database.iterator(options) : database.keys(options)
  try {
    while (left > 0) {
      const found = await iterator.nextv(Math.min(left, rowsPerPage))
      if (found.length === 0) return
      left -= found.length
      yield await withTexts(database, keys, plan, found, snapshot)
    }
  } finally {
    await iterator.close()
  }
}

/** How many rows a listing has in all. Those of a range are counted by passing over their keys. */
export async function totalOf(database: Database, plan: ListingPlan, snapshot: Snapshot): Promise<number> {
  const { countKey, range } = plan
  if (countKey !== undefined) return Number(database.getSync(countKey, { snapshot }) ?? 0)
  const iterator = database.keys({ ...range, snapshot, highWaterMarkBytes })
  let total = 0
  try {
    for (;;) {
      const found = await iterator.nextv(keysAtOnce)
      if (found.length === 0) return total
      for (const key of found) checkValues(plan, key)
      total += found.length
    }
  } finally {
    await iterator.close()
  }
}

interface Bounds {
  readonly gt?: string
  readonly gte?: string
  readonly lt?: string
  readonly lte?: string
}

/** The range behind the place where it goes on. */
function rest({ range: { gte, lt }, after, reverse }: ListingPlan): Bounds {
  if (after === undefined) return { gte, lt }
  return reverse ? { gte, lt: after } : { gt: after, lt }
}

/** The rest without its first `offset` keys, which are passed over without reading rows. */
async function skip(database: Database, plan: ListingPlan, snapshot: Snapshot): Promise<Bounds | undefined> {
  const range = rest(plan)
  const { reverse } = plan
  if (plan.offset === 0) return range
  const iterator = database.keys({ ...range, reverse, snapshot, highWaterMarkBytes })
  try {
    let left = plan.offset + 1
    for (;;) {
      const found = await iterator.nextv(Math.min(left, keysAtOnce))
      left -= found.length
      const last = found.at(-1)
      if (last === undefined) return undefined
      if (left === 0) return reverse ? { gte: plan.range.gte, lte: last } : { gte: last, lt: plan.range.lt }
    }
  } finally {
    await iterator.close()
  }
}

async function withTexts(
  database: Database,
  keys: CollectionKeys,
  plan: ListingPlan,
  found: readonly (string | [string, string])[],
  snapshot: Snapshot,
): Promise<ListedRow[]> {
  const entries = found.filter((entry) => typeof entry === 'string')
  if (entries.length === 0) {
    return found
      .filter((entry) => typeof entry !== 'string')
      .map(([key, text]) => ({ key, id: key.slice(keys.rows.length), text }))
  }
  for (const key of entries) checkValues(plan, key)
  const ids = entries.map((key) => keys.idOfEntry(key))
  const rows = ids.map((id) => keys.row(id))
  const texts =
    rows.length <= rowsAtOnce
      ? rows.map((key) => database.getSync(key, { snapshot }))
      : await database.getMany(rows, { snapshot })
  return entries.map((key, at) => ({ key, id: ids[at]!, text: texts[at] ?? '' }))
}

/** An id must not pass for the next value of a compound index that has none. */
function checkValues({ index, prefix, values }: ListingPlan, key: string): void {
  let at = prefix.length
  for (let left = values; left > 0; left -= 1) {
    at = key.indexOf(terminator, at) + 1
    if (at === 0) throw invalid(`The index "${index}" has no value after those of equals for a range.`)
  }
}
