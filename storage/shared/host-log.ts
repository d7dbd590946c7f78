import { StoreError } from '../errors.ts'
import type { ErasingOptions, LogOptions, LogQuery, Store } from '../index.ts'
import type { RowFacts } from '../level/block.ts'
import { LevelLog } from '../level/log.ts'
import { factsByName } from '../level/queued-row.ts'
import { Cursors } from './cursors.ts'
import type { CrossingRow, Indexed, LogNames, OpenPart } from './messages.ts'
import { type Peers, pathOf, type Tell } from './peers.ts'

/**
 * A log of another thread. Its functions are there: rows come as text with their facts, and rows that lie on the disk are
 * sent there when they are indexed anew, or may be erased.
 */
export class HostLog {
  readonly #part: number
  readonly #tell: Tell
  readonly #peers: Peers
  readonly #path: string
  readonly #cursors = new Cursors()
  /** The answers of the functions for rows that are being indexed. */
  readonly #facts = new WeakMap<object, RowFacts>()
  #log: LevelLog<unknown>

  constructor(store: Store, open: OpenPart, tell: Tell, peers: Peers) {
    this.#part = open.part
    this.#tell = tell
    this.#peers = peers
    this.#path = pathOf(open)
    this.#log = this.open(store, open)
  }

  /** Takes over the names of a handle that was made later. */
  open(store: Store, { name, names = { fields: [], numbers: [] } }: OpenPart): LevelLog<unknown> {
    const log = store.log(name, this.#optionsOf(names))
    if (!(log instanceof LevelLog))
      throw new TypeError('Only the thread that has the store can share its logs.')
    this.#log = log
    return log
  }

  append = async (rows: readonly CrossingRow[], names: LogNames): Promise<void> => {
    const options = optionsNamed(names)
    await this.#log.take(rows.map((row) => ({ ...row, options, isForeign: true })))
  }

  flush = () => this.#log.flush()
  prepare = () => this.#log.prepare()
  get = (id: string) => this.#withAll(() => this.#log.get(id))
  body = (id: string) => this.#withAll(() => this.#log.body(id))
  placeOf = (id: string) => this.#withAll(() => this.#log.placeOf(id))
  list = (query: LogQuery) => this.#withAll(() => this.#log.list(query))
  scan = (query: LogQuery) => this.#withAll(() => this.#cursors.open(this.#log.scan(query)))
  more = (cursor: number) => this.#cursors.more(cursor)
  done = (cursor: number) => this.#cursors.close(cursor)
  totals = (from: string, to: string) => this.#withAll(() => this.#log.totals(from, to))
  forgetTotals = (from: string, to: string) => this.#withAll(() => this.#log.forgetTotals(from, to))
  prune = (beforeMs: number) => this.#withAll(() => this.#log.prune(beforeMs))
  pruneBodies = (beforeMs: number) => this.#withAll(() => this.#log.pruneBodies(beforeMs))

  erase = (erasing: number, options?: ErasingOptions) =>
    this.#withAll(() =>
      this.#log.eraseBy(
        async (rows) => (await this.#tell({ part: this.#part, erasing, rows })) as readonly boolean[],
        options,
      ),
    )

  close(): Promise<void> {
    return this.#cursors.closeAll()
  }

  /** Does something when the rows that wait in other threads are here. */
  async #withAll<R>(operation: () => Promise<R>): Promise<R> {
    await this.#peers.tellAll({ wanted: this.#path }, this.#tell)
    return operation()
  }

  #optionsOf(names: LogNames): LogOptions<unknown> {
    const facts = (row: unknown): RowFacts | undefined => this.#facts.get(row as object)
    const known = (row: unknown): RowFacts => {
      const found = facts(row)
      if (!found)
        throw new StoreError('ROW_INVALID', 'Nothing is known of this row in the thread of its log.')
      return found
    }
    return {
      ...optionsNamed(names, known),
      id: (row) => known(row).id,
      time: (row) => known(row).time,
      maxQueueBytes: Number.POSITIVE_INFINITY,
      prepare: (rows) => this.#index(rows, names),
    }
  }

  async #index(rows: readonly unknown[], names: LogNames): Promise<void> {
    const told = (await this.#tell({ part: this.#part, index: rows })) as Indexed
    const [wanted, given] = [optionsNamed(names), optionsNamed(told)]
    for (const [at, facts] of told.facts.entries())
      if (facts) this.#facts.set(rows[at] as object, factsByName(wanted, given, facts))
  }
}

/** Options of these names, whose functions look up what is known of a row. */
function optionsNamed(
  { fields, numbers }: LogNames,
  known?: (row: unknown) => RowFacts,
): Pick<LogOptions<unknown>, 'fields' | 'numbers'> {
  const values = fields.map((name, at) => [name, (row: unknown) => known?.(row).values[at]] as const)
  const counts = numbers.map((name, at) => [name, (row: unknown) => known?.(row).numbers[at]] as const)
  return { fields: Object.fromEntries(values), numbers: Object.fromEntries(counts) }
}
