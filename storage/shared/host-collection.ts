import { isDeepStrictEqual } from 'node:util'
import type { Collection, CountOptions, ListOptions, OlderRow, Store } from '../index.ts'
import { type CheckedRow, checkedSchema, marked, valuesOf } from './checked-row.ts'
import { Cursors } from './cursors.ts'
import type { OpenPart } from './messages.ts'
import { type Peers, pathOf, type Tell } from './peers.ts'

/**
 * A collection of another thread. Its schema and functions are there: rows come checked, with the values of their
 * indexes, and older ones are sent there before they are brought up.
 */
export class HostCollection {
  readonly #part: number
  readonly #tell: Tell
  readonly #peers: Peers
  readonly #path: string
  readonly #cursors = new Cursors()
  #rows: Collection<unknown>
  #unwatch: (() => void) | undefined

  constructor(store: Store, open: OpenPart, tell: Tell, peers: Peers) {
    this.#part = open.part
    this.#tell = tell
    this.#peers = peers
    this.#path = pathOf(open)
    this.#rows = this.open(store, open)
  }

  /** Takes over the options of a handle that was made later. */
  open(store: Store, { name, version, indexes = [] }: OpenPart): Collection<unknown> {
    this.#rows = store.collection(name, {
      schema: checkedSchema(indexes.length > 0),
      indexes: Object.fromEntries(indexes.map((index) => [index, (row: unknown) => valuesOf(row, index)])),
      ...(version !== undefined && { version }),
      prepare: (rows) => this.#bringUp(rows),
    })
    return this.#rows
  }

  get = (id: string) => this.#rows.get(id)
  put = (id: string, { row, values }: CheckedRow) =>
    this.#written(id, this.#rows.put(id, marked(row, { row, values })))
  create = (id: string, { row, values }: CheckedRow) =>
    this.#written(id, this.#rows.create(id, marked(row, { row, values })))
  delete = (id: string) => this.#written(id, this.#rows.delete(id))
  list = (options: ListOptions) => this.#rows.list(options)
  count = (options: CountOptions) => this.#rows.count(options)
  scan = (options: ListOptions) => this.#cursors.open(this.#rows.scan(options))
  more = (cursor: number) => this.#cursors.more(cursor)
  done = (cursor: number) => this.#cursors.close(cursor)

  /** The row as it is now, written or about to be. */
  peek = async (id: string): Promise<unknown> => {
    let row: unknown
    await this.#rows.update(id, (now) => {
      row = now
      return undefined
    })
    return row
  }

  /** Writes when the row still is what it was; false when it is not. */
  swap = async (id: string, before: unknown, { row, values }: CheckedRow): Promise<boolean> => {
    let isSame = false
    const updated = this.#rows.update(id, (now) => {
      isSame = isDeepStrictEqual(now, before)
      return isSame ? marked(row, { row, values }) : undefined
    })
    await this.#written(id, updated)
    return isSame
  }

  watch = async (): Promise<void> => {
    this.#unwatch ??= this.#rows.watch((changed) => {
      this.#peers.note(this.#keyOf(changed.id), this.#tell({ part: this.#part, changed }))
    })
  }

  unwatch = async (): Promise<void> => {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  // The methods below are for the side that has the store: a thread may ask only for own properties, not for those of the
  // prototype.

  get rows(): Collection<unknown> {
    return this.#rows
  }

  /** Resolves when all watchers have received a write to this row. */
  heard(id: string): Promise<void> {
    return this.#peers.heard(this.#keyOf(id))
  }

  async close(): Promise<void> {
    await this.unwatch()
    await this.#cursors.closeAll()
  }

  #keyOf(id: string): string {
    return `${this.#path}\0${id}`
  }

  /** The result of a write, once all watchers have received it. */
  async #written<R>(id: string, write: Promise<R>): Promise<R> {
    const result = await write
    await this.heard(id)
    return result
  }

  async #bringUp(older: readonly OlderRow[]): Promise<void> {
    const told = await this.#tell({ part: this.#part, older })
    for (const [i, checked] of (told as readonly (CheckedRow | undefined)[]).entries())
      if (checked) marked(older[i]!.row, checked)
  }
}
