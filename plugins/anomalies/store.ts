import {
  type Anomalies,
  type Collection,
  type Context,
  type FoundAnomaly,
  newId,
  type Page,
  type PageOptions,
} from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { AnomalyFound, DriftDetected } from './events.ts'
import { type Filter, filterKey, filterKeys } from './filter.ts'
import { type AnomalyRow, anomalyRow } from './row.ts'
import { viewOf } from './view.ts'

const dayMs = 86_400_000
/** Traces that a record names. */
const mostTraces = 10
/** Beyond so many records the oldest go first: one finding a second must not fill the disk. */
const mostRecords = 10_000

/** When, in milliseconds since the epoch; `to` is exclusive. */
export interface TimeRange {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** What was found, newest first, for as long as it is kept. */
export class AnomalyStore implements Anomalies {
  readonly #rows: Collection<AnomalyRow>
  readonly #most: number
  readonly #parts: Pick<Context<unknown>, 'store' | 'emit'>

  constructor(parts: Pick<Context<unknown>, 'store' | 'emit'>, most = mostRecords) {
    this.#parts = parts
    this.#most = most
    this.#rows = parts.store.collection('anomalies', {
      schema: anomalyRow,
      indexes: {
        filter: (row) => filterKeys(row).map((key) => [key, row.at]),
        at: ({ at }) => at,
        user: ({ scope }) => scope.user,
      },
    })
  }

  async record({
    kind,
    severity,
    scope,
    dimensions: [first, ...rest],
    traces,
  }: FoundAnomaly): Promise<string> {
    const at = Date.now()
    const row: AnomalyRow = {
      id: newId('an_'),
      kind,
      severity,
      scope,
      dimensions: [first, ...rest],
      count: Math.max(1, traces.length),
      traces: traces.slice(0, mostTraces),
      at,
      updated: at,
    }
    const { store, emit } = this.#parts
    await store.transaction((tx) => {
      tx.put(this.#rows, row.id, row)
      emit(kind === 'drift' ? DriftDetected : AnomalyFound, viewOf(row), { in: tx })
    })
    return row.id
  }

  async repeat(id: string, count: number, traces: readonly string[]): Promise<void> {
    await this.#rows.update(
      id,
      (row) =>
        row && {
          ...row,
          count: row.count + count,
          traces: [...row.traces, ...traces].slice(0, mostTraces),
          updated: Date.now(),
        },
    )
  }

  get(id: string): Promise<AnomalyRow | undefined> {
    return this.#rows.get(id)
  }

  list(filter: Filter, { from, to }: TimeRange, page: PageOptions): Promise<Page<AnomalyRow>> {
    const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    return this.#rows.list({ index: 'filter', equals: [filterKey(filter)], ...range, ...page, reverse: true })
  }

  /** Notes that somebody has seen it; the first time counts. Undefined for none. */
  async acknowledge(id: string): Promise<AnomalyRow | undefined> {
    const now = Date.now()
    const changed = await this.#rows.update(id, (row) =>
      row && row.acknowledged === undefined ? { ...row, acknowledged: now, updated: now } : undefined,
    )
    return changed ?? this.#rows.get(id)
  }

  delete(id: string): Promise<boolean> {
    return this.#rows.delete(id)
  }

  /** Deletes what is older than so many days, and the oldest of too many. */
  async prune(days: number): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'at', to: Date.now() - days * dayMs }))
      await this.#rows.delete(id)
    const over = (await this.#rows.count()) - this.#most
    if (over <= 0) return
    for await (const [id] of this.#rows.scan({ index: 'at', limit: over })) await this.#rows.delete(id)
  }

  /** Its rows, as personal data of users. */
  get ofUsers(): KeptOfUser {
    return rowsOfUsers(this.#rows)
  }
}
