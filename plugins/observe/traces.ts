import {
  type Age,
  type Awaitable,
  type CallSource,
  type LogQuery,
  type Page,
  type PageOptions,
  type Principal,
  type RowLog,
  SecretsError,
  type Store,
  type TracePlace,
} from '#kernel'
import { Expiry, nanoOf, type Seal } from '#kit'
import { type Bodies, parseBodies } from './body.ts'
import { type SearchedFrom, type SearchPage, searchBodies } from './body-search.ts'
import { Cells, everybody, minutesBefore, quartersBefore } from './cells.ts'
import { fields, numbers } from './fields.ts'
import { Repeats } from './repeats.ts'
import { createRollUp } from './roll-up.ts'
import type { TraceRow } from './row.ts'
import { noSeals, openedRow, sealedBy, sealedRow, type TextOf, type TraceSeals } from './trace-seals.ts'

/** The filters of a listing; all of them must hold. */
export interface TraceFilter {
  /** Milliseconds since the epoch, inclusive. */
  readonly from?: number | undefined
  /** Milliseconds since the epoch, exclusive. */
  readonly to?: number | undefined
  /** As it was asked for, or as it was sent on. */
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly status?: string | undefined
  readonly source?: string | undefined
  readonly user_id?: string | undefined
  readonly key_id?: string | undefined
  readonly project?: string | undefined
  readonly session_id?: string | undefined
  /** `key=value`. */
  readonly tag?: string | undefined
  /** In USD. */
  readonly min_cost?: number | undefined
  /** In milliseconds. */
  readonly min_latency?: number | undefined
}

const hourMs = 3_600_000

/** Two months of any calendar, and the days around them. */
const quartersKeptDays = 65

/** All traces: what happened in each call, and the sums over them. */
export class Traces {
  readonly #log: RowLog<TraceRow>
  readonly #repeats: Repeats
  readonly #expiry: Expiry<TraceRow>
  readonly #bodiesExpiry: Expiry<TraceRow>
  readonly #seals: TraceSeals
  readonly #waiting = new Set<Promise<void>>()
  deletedBefore: number | undefined

  constructor(store: Store, flushMs: number, seals: TraceSeals = noSeals) {
    this.#seals = seals
    this.#log = store.log<TraceRow>('traces', {
      id: ({ id }) => id,
      time: ({ at }) => at,
      fields,
      numbers,
      rollup: createRollUp(),
      flushMs,
    })
    this.#repeats = new Repeats(store, this.#log)
    this.#expiry = new Expiry(this.#log)
    this.#bodiesExpiry = new Expiry(this.#log, { bodiesOnly: true })
  }

  /** Indexes traces of earlier versions for what is filtered by today; queries need not wait for it. */
  prepare(): Promise<void> {
    return this.#log.prepare()
  }

  /** Finds, once, whose words repeats have that an earlier version wrote; whoever asks for what is a user's waits for it. */
  findRepeats(): Promise<void> {
    return this.#repeats.find()
  }

  /**
   * Queues a trace; `bodies` of the caller is asked for when there is room for them. A promise only while the key that
   * they are sealed under is fetched; when it rejects, the trace is queued without them and without its words.
   */
  append(row: TraceRow, bodies?: TextOf, caller?: Principal): Awaitable<void> {
    const seal = caller && this.#seals.sealFor(caller)
    if (seal instanceof Promise) return this.#whileOpen(this.#appendLater(row, bodies, seal))
    if (seal) this.#appendSealed(row, bodies, seal)
    else this.#log.append(row, bodies)
  }

  /** Resolves when no trace waits for a key any more. */
  async queued(): Promise<void> {
    await Promise.allSettled(this.#waiting)
  }

  #whileOpen(appended: Promise<void>): Promise<void> {
    this.#waiting.add(appended)
    return appended.finally(() => this.#waiting.delete(appended))
  }

  #appendSealed(row: TraceRow, bodies: TextOf | undefined, seal: Seal): void {
    this.#log.append(sealedRow(row, this.#seals, seal), bodies && sealedBy(seal, bodies))
  }

  async #appendLater(row: TraceRow, bodies: TextOf | undefined, seal: Promise<Seal>): Promise<void> {
    try {
      this.#appendSealed(row, bodies, await seal)
    } catch (error) {
      this.#log.append(sealedRow({ ...row, bodies: 'off' }, this.#seals))
      throw error
    }
  }

  async get(id: string): Promise<TraceRow | undefined> {
    const row = await this.#log.get(id)
    return row && openedRow(await this.#repeats.told(row), this.#seals)
  }

  /** Both sides of a call; undefined when they were not stored, or not any more. */
  async bodies(id: string): Promise<Bodies | undefined> {
    const stored = await this.#log.body(id)
    if (stored === undefined) return undefined
    try {
      const text = await this.#seals.open(stored)
      return text === undefined ? { erased: true } : parseBodies(text)
    } catch (error) {
      if (error instanceof SecretsError) return { erased: true, unreadable: true }
      throw error
    }
  }

  /** A page, newest first, with the total. */
  async list(filter: TraceFilter, page: PageOptions): Promise<Page<TraceRow>> {
    const { items, ...rest } = await this.#log.list({ ...this.#queryOf(filter), ...page })
    return { ...rest, items: await Promise.all(items.map((row) => openedRow(row, this.#seals))) }
  }

  /** Every trace that passes, newest first. */
  async *scan(filter: TraceFilter, { after }: Pick<PageOptions, 'after'> = {}): AsyncIterable<TraceRow> {
    const rows = this.#log.scan({ ...this.#queryOf(filter), ...(after !== undefined && { after }) })
    for await (const row of rows) yield row.words === undefined ? row : await openedRow(row, this.#seals)
  }

  /** The next traces in the order in which they were written, and the place behind them. */
  async follow({ after, from, withFindings = false }: TracePlace, limit: number) {
    const where = withFindings ? { found: 'yes' } : {}
    const traces: TraceRow[] = []
    const query = { where, from, limit, reverse: false, ...(after !== undefined && { after }) }
    for await (const row of this.#log.scan(query)) traces.push(await openedRow(row, this.#seals))
    const last = traces.at(-1)
    return { traces, after: (last && (await this.#log.placeOf(last.id))) ?? after }
  }

  /** Traces whose stored bodies hold a text, as `searchBodies` finds them. */
  search(filter: TraceFilter, text: string, page: PageOptions, budgetMs: number): Promise<SearchPage> {
    const rows = (place: SearchedFrom) => this.scan(filter, place)
    return searchBodies({ log: this.#log, seals: this.#seals, rows }, text, page, budgetMs)
  }

  /**
   * The sums of a user's traces, or of all traces: of clients' own calls, or of those of another source. A user's own calls
   * include reported traces, which are also there by value for themselves.
   */
  cells(userId: string | undefined, source?: CallSource | 'manual'): Cells {
    return new Cells(this.#log, userId ?? everybody, source)
  }

  /** A user's traces, and those of others that repeat calls of that user. */
  async countOf(userId: string): Promise<number> {
    const found = [{ user_id: userId }, { source_user_id: userId }].map((where) =>
      this.#log.list({ where, limit: 0 }),
    )
    const silent = [...(await this.#repeats.of(userId))].map((id) => this.#log.get(id))
    const kept = (await Promise.all(silent)).filter(Boolean).length
    return (await Promise.all(found)).reduce((sum, { total }) => sum + total, kept)
  }

  /** Deletes these traces with their bodies, and returns how many. Sums stay. */
  async eraseOf(userId: string): Promise<number> {
    const silent = await this.#repeats.of(userId)
    const erased = await this.#log.erase(
      ({ id, user_id, source_user_id }) => user_id === userId || source_user_id === userId || silent.has(id),
    )
    await this.#repeats.forget(silent)
    return erased
  }

  status() {
    return this.#log.status()
  }

  /**
   * Deletes rows and bodies that are past the age of their project, and sums by the minute that are past the highest age of
   * rows. Other sums stay.
   */
  async prune(ages: Readonly<Record<'traces' | 'bodies', Age>>, now = Date.now()): Promise<void> {
    await this.#bodiesExpiry.sweep(ages.bodies, now)
    await this.#expiry.sweep(ages.traces, now)
    const before = now - Math.max(ages.traces.days, ...Object.values(ages.traces.projects)) * 24 * hourMs
    this.deletedBefore = before
    await this.#repeats.prune(before)
    await this.#log.forgetTotals(...minutesBefore(before))
    await this.#log.forgetTotals(...quartersBefore(now - quartersKeptDays * 24 * hourMs))
  }

  /** A session is found by its id and by what stands for it where it is sealed. */
  #queryOf({ from, to, min_cost, min_latency, session_id, ...equal }: TraceFilter): LogQuery {
    const session = session_id === undefined ? undefined : [session_id, ...this.#seals.namesOf(session_id)]
    return {
      where: { ...equal, session_id: session },
      atLeast: {
        cost_nano: min_cost ? nanoOf(min_cost) : undefined,
        latency_us: min_latency ? Math.round(min_latency * 1000) : undefined,
      },
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }
  }
}
