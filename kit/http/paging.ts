import { hash } from 'node:crypto'
import type { Collection, ListOptions, Page, PageOptions } from '../../storage/index.ts'
import { badRequest } from '../errors.ts'

/** Which page of a listing is asked for. */
export interface PageQuery {
  readonly limit: number
  /** How many rows are passed over, from the beginning or from the cursor. */
  readonly offset: number
  /** Where the page before it ended. */
  readonly cursor?: string | undefined
}

/** Rows that were shown last, which say in a cursor where it is. */
const anchorsKept = 100
const anchorLength = 8

/** A page of what the store lists. Throws a bad request for a cursor that is none of this listing. */
export async function storedPage<P>(
  { limit, offset, cursor }: PageQuery,
  list: (page: PageOptions) => Promise<P>,
): Promise<P> {
  try {
    return await list({ limit, offset, ...(cursor !== undefined && { after: cursor }) })
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === 'QUERY_INVALID'
    throw isRefused && cursor !== undefined ? badCursor() : error
  }
}

/**
 * A page of a list in memory, whose items `idOf` tells apart. Its cursor names the items that were shown last: the next page
 * begins behind the last of them that is still there, so that what stays comes once, whatever is added or deleted meanwhile.
 */
export function pageOf<T>(
  all: readonly T[],
  { limit, offset, cursor }: PageQuery,
  idOf: (item: T) => string,
): Page<T> {
  const place = cursor === undefined ? { shown: 0, anchors: [] } : placeOf(cursor)
  const names = anchorsOf(all, idOf)
  const start = startOf(names, place) + offset
  const end = Math.min(start + limit, all.length)
  const items = all.slice(start, end)
  if (end >= all.length) return { items, total: all.length }
  const anchors = [...place.anchors, ...names.slice(start, end)].slice(-anchorsKept)
  const next = `${(place.shown + offset + items.length).toString(36)}.${anchors.join('')}`
  return { items, total: all.length, next }
}

/**
 * A page of several ranges of a collection as one listing, the newest first, such as of what is the caller's own and of what is
 * shared. In each range rows are in the order of `timeOf`, and no row is in two of them.
 */
export async function mergedPage<T extends { readonly id: string }>(
  rows: Pick<Collection<T>, 'scan' | 'count'>,
  ranges: readonly Pick<ListOptions, 'index' | 'equals'>[],
  timeOf: (row: T) => string,
  { limit = 50, offset = 0, after }: PageOptions,
): Promise<Page<T>> {
  const last = after === undefined ? undefined : lastIn(after)
  const isBefore = (row: T): boolean =>
    last !== undefined && (timeOf(row) > last.time || (timeOf(row) === last.time && row.id >= last.id))
  // A space ends the range right behind the time itself.
  const to = last && { to: `${last.time} ` }
  const scans = ranges.map((range) => rows.scan({ ...range, ...to, reverse: true }))
  const items: T[] = []
  let passed = 0
  let isMore = false
  for await (const row of newestOf(scans, timeOf)) {
    if (isBefore(row)) continue
    isMore = items.length === limit
    if (isMore) break
    if (passed < offset) passed += 1
    else items.push(row)
  }
  const counts = await Promise.all(ranges.map((range) => rows.count(range)))
  const total = counts.reduce((sum, count) => sum + count, 0)
  const end = items.at(-1)
  if (isMore && end) return { items, total, next: cursorAt(timeOf(end), end.id) }
  const unreadable = last ? 0 : total - passed - items.length
  return { items, total, ...(unreadable > 0 && { unreadable }) }
}

/** The rows of scans that are each newest first, as one; of rows of one time the highest id is first. */
async function* newestOf<T extends { readonly id: string }>(
  scans: readonly AsyncIterable<[id: string, row: T]>[],
  timeOf: (row: T) => string,
): AsyncGenerator<T> {
  const heads = scans.map((scan) => scan[Symbol.asyncIterator]())
  try {
    const rows: (T | undefined)[] = []
    for (const head of heads) rows.push(rowOf(await head.next()))
    for (;;) {
      let first = -1
      for (const [n, row] of rows.entries())
        if (row && (first < 0 || isNewer(row, rows[first]!, timeOf))) first = n
      if (first < 0) return
      yield rows[first]!
      rows[first] = rowOf(await heads[first]!.next())
    }
  } finally {
    for (const head of heads) await head.return?.()
  }
}

const rowOf = <T>({ done, value }: IteratorResult<[id: string, row: T]>): T | undefined =>
  done ? undefined : value[1]

const isNewer = <T extends { readonly id: string }>(a: T, b: T, timeOf: (row: T) => string): boolean =>
  timeOf(a) === timeOf(b) ? a.id > b.id : timeOf(a) > timeOf(b)

const cursorAt = (time: string, id: string): string =>
  Buffer.from(JSON.stringify([time, id])).toString('base64url')

function lastIn(cursor: string): { readonly time: string; readonly id: string } {
  const [, time, id] = /^\["([^"\\]+)","([^"\\]+)"\]$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (time === undefined || id === undefined) throw badCursor()
  return { time, id }
}

interface Place {
  /** How many items came before it. */
  readonly shown: number
  readonly anchors: readonly string[]
}

/** Short names of items; those that look the same are numbered, from the end, where lists do not grow. */
function anchorsOf<T>(all: readonly T[], idOf: (item: T) => string): string[] {
  const seen = new Map<string, number>()
  return all
    .reduceRight<string[]>((names, item) => {
      const id = idOf(item)
      const count = seen.get(id) ?? 0
      seen.set(id, count + 1)
      names.push(hash('sha256', `${count} ${id}`, 'base64url').slice(0, anchorLength))
      return names
    }, [])
    .reverse()
}

function startOf(names: readonly string[], { shown, anchors }: Place): number {
  const last = anchors.findLast((anchor) => names.includes(anchor))
  return last === undefined ? Math.max(0, shown - anchors.length) : names.indexOf(last) + 1
}

function placeOf(cursor: string): Place {
  const [, shown, anchors] = /^([0-9a-z]{1,9})\.((?:[\w-]{8})+)$/.exec(cursor) ?? []
  if (shown === undefined || anchors === undefined) throw badCursor()
  return {
    shown: Number.parseInt(shown, 36),
    anchors: Array.from({ length: anchors.length / anchorLength }, (_, at) =>
      anchors.slice(at * anchorLength, (at + 1) * anchorLength),
    ),
  }
}

const badCursor = () =>
  badRequest(
    'query cursor: is no cursor of this listing; take next_cursor of a page, with the same filters.',
    {
      param: 'cursor',
    },
  )
