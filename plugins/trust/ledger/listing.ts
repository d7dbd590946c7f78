import type { LedgerEntry, LedgerQuery, Page, RowLog, Store } from '#kernel'
import type { Segments } from './segments.ts'

/** What entries are found by. */
interface Found {
  readonly id: string
  readonly seq: number
  readonly at: number
  readonly event_type: string
  readonly actor: string
  readonly resource: string | undefined
}

export interface Window {
  readonly after?: string | undefined
  readonly limit: number
  readonly offset: number
}

/** Entries that are indexed in a row before others have their turn. */
const slice = 2000

/**
 * Finds entries by type, actor, resource and time. Its index is derived from the chain, apart from it and off the path of calls: it is
 * brought up to date in the background, and before it is asked.
 */
export class Listing {
  readonly #segments: Segments
  readonly #index: RowLog<Found>
  #turn: Promise<unknown> = Promise.resolve()

  constructor(store: Store, segments: Segments) {
    this.#segments = segments
    this.#index = store.log('ledger_index', {
      id: ({ id }) => id,
      time: ({ at }) => at,
      fields: {
        event_type: ({ event_type }) => event_type,
        actor: ({ actor }) => actor,
        resource: ({ resource }) => resource,
      },
    })
  }

  /** Newest first. */
  async page(query: LedgerQuery, window: Window): Promise<Page<LedgerEntry>> {
    const { eventType, actor, resource } = query
    return (eventType ?? actor ?? resource) === undefined
      ? this.#byPlace(query, window)
      : this.#byField(query, window)
  }

  /** Indexes entries that are not yet, up to so many. */
  catchUp(most = Number.POSITIVE_INFINITY): Promise<void> {
    const turn = this.#turn.then(() => this.#catchUp(most))
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Without other conditions the places of the entries are known. */
  async #byPlace(query: LedgerQuery, { after, limit, offset }: Window): Promise<Page<LedgerEntry>> {
    const { from, to } = await this.#places(query)
    const top = Math.min(to, after === undefined ? to : placeOf(after) - 1) - offset
    const bottom = Math.max(from, top - limit + 1)
    const items = top < bottom ? [] : (await Array.fromAsync(this.#segments.scan(bottom, top))).reverse()
    const total = Math.max(0, to - from + 1)
    return { items, total, ...(items.length > 0 && bottom > from && { next: String(bottom) }) }
  }

  async #byField(query: LedgerQuery, { after, limit, offset }: Window): Promise<Page<LedgerEntry>> {
    await this.catchUp()
    const { fromSeq, toSeq, from, to, eventType: event_type, actor, resource } = query
    const isPlaced = fromSeq !== undefined || toSeq !== undefined
    const { items, ...page } = await this.#index.list({
      where: { event_type, actor, resource },
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(isPlaced && { filter: ({ seq }: Found) => seq >= (fromSeq ?? 1) && seq <= (toSeq ?? seq) }),
      ...(after !== undefined && { after }),
      limit,
      offset,
    })
    const entries: LedgerEntry[] = []
    for (const { seq } of items) {
      const entry = await this.#segments.get(seq)
      if (entry) entries.push(entry)
    }
    return { ...page, items: entries }
  }

  /** The first and the last place of a query. */
  async #places({ fromSeq = 1, toSeq, from, to }: LedgerQuery): Promise<{ from: number; to: number }> {
    const { seq } = await this.#segments.head()
    return {
      from: Math.max(fromSeq, from === undefined ? 1 : await this.#segments.seqAt(from)),
      to: Math.min(toSeq ?? seq, to === undefined ? seq : (await this.#segments.seqAt(to)) - 1),
    }
  }

  async #catchUp(most: number): Promise<void> {
    const { seq: last } = await this.#segments.head()
    let known = await this.#known()
    if (known > last) {
      // The entries behind were not on disk when the power went.
      await this.#index.erase(({ seq }) => seq > last)
      known = await this.#known()
    }
    const end = Math.min(last, known + most)
    for (let from = known + 1; from <= end; from += slice) {
      for await (const entry of this.#segments.scan(from, Math.min(end, from + slice - 1)))
        this.#index.append(foundBy(entry))
      await this.#index.flush()
    }
  }

  async #known(): Promise<number> {
    return (await this.#index.list({ limit: 1 })).items[0]?.seq ?? 0
  }
}

const foundBy = ({ id, seq, created_at, event_type, actor, resource }: LedgerEntry): Found => ({
  id,
  seq,
  at: Date.parse(created_at),
  event_type,
  actor: actor.id,
  resource: resource?.id,
})

/** Of a cursor: the place of the last entry that was shown. */
function placeOf(cursor: string): number {
  if (/^[1-9][0-9]{0,15}$/.test(cursor)) return Number(cursor)
  throw Object.assign(new Error('This is no place in the ledger.'), { code: 'QUERY_INVALID' })
}
