import type { Page, PageOptions, RowLog } from '#kernel'
import type { TraceRow } from './row.ts'
import type { TraceSeals } from './trace-seals.ts'

/** A page of a search through bodies, which ends when its time is over. */
export interface SearchPage extends Page<TraceRow> {
  /** Traces that were looked at, newest first. */
  readonly searched: number
  /** Whether that was all of them. */
  readonly complete: boolean
}

/** Where a search begins; with the newest trace without it. */
export type SearchedFrom = Pick<PageOptions, 'after'>

interface Searched {
  readonly log: Pick<RowLog<TraceRow>, 'body' | 'placeOf'>
  readonly seals: Pick<TraceSeals, 'tryOpen'>
  /** The traces to look at, newest first. */
  readonly rows: (from: SearchedFrom) => AsyncIterable<TraceRow>
}

/**
 * Traces whose stored bodies hold a text, whatever its case. There is no index of texts: bodies are read newest
 * first until the time is over, and the page says how far that was. The next one goes on from there, and its total counts
 * those of the pages before it.
 */
export async function searchBodies(
  { log, seals, rows }: Searched,
  text: string,
  { limit = Number.POSITIVE_INFINITY, offset = 0, after }: PageOptions,
  budgetMs: number,
): Promise<SearchPage> {
  const wanted = JSON.stringify(text).slice(1, -1).toLowerCase()
  const ends = performance.now() + budgetMs
  const items: TraceRow[] = []
  const { before, place } = searchedBefore(after)
  let found = 0
  let searched = 0
  let last: TraceRow | undefined
  for await (const row of rows(place)) {
    if (performance.now() > ends) {
      const isFull = items.length === limit
      const next = await nextAfter(
        log,
        isFull ? items.at(-1) : last,
        before + (isFull ? offset + limit : found),
      )
      return { items, total: before + found, searched, complete: false, ...next }
    }
    searched += 1
    last = row
    const stored = row.bodies === 'stored' ? await log.body(row.id) : undefined
    const body = stored && (await seals.tryOpen(stored))
    if (!body?.toLowerCase().includes(wanted)) continue
    if (found >= offset && items.length < limit) items.push(row)
    found += 1
  }
  const given = offset + items.length
  const next = found > given ? await nextAfter(log, items.at(-1), before + given) : {}
  return { items, total: before + found, searched, complete: true, ...next }
}

/** Where a search goes on: behind a trace, up to which so many were found. */
async function nextAfter(
  log: Searched['log'],
  row: TraceRow | undefined,
  found: number,
): Promise<Pick<Page<TraceRow>, 'next'>> {
  const place = row && (await log.placeOf(row.id))
  return place === undefined ? {} : { next: `${found}.${place}` }
}

/** How many a search had found before the place that a page said. */
function searchedBefore(next: string | undefined): { before: number; place: SearchedFrom } {
  const [, found, after] = /^(\d{1,15})\.(.+)$/.exec(next ?? '') ?? [undefined, '0', next]
  return { before: Number(found), place: after === undefined ? {} : { after } }
}
