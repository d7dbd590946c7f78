import { hash } from 'node:crypto'
import { badRequest } from '../kernel/errors.ts'
import type { Page, PageOptions } from '../storage/index.ts'

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
