import type {
  Change,
  Collection,
  CollectionOptions,
  ListOptions,
  OlderRow,
  Page,
} from '../../../../storage/index.ts'
import { type Shape, shapeOf } from '../../../../storage/level/shape.ts'
import { HookFault } from '../../../chain/hook-fault.ts'
import type { CheckedRow } from './checked-row.ts'
import type { Batch, PartNews } from './messages.ts'

export type Ask = (method: string, ...args: readonly unknown[]) => Promise<unknown>

/** A collection as a module in a worker has it: rows are checked here, and kept on the other side. */
export class GuestCollection<T> implements Collection<T> {
  readonly #ask: Ask
  readonly #listeners = new Set<(change: Change<T>) => void>()
  /** The write of each id that was called last. */
  readonly #writing = new Map<string, Promise<unknown>>()
  readonly #failed: (error: unknown) => void
  #shape: Shape<T>

  /** Throws `NAME_INVALID` for names of indexes that cannot be. `failed` is told what listeners throw, and why they hear nothing. */
  constructor(options: CollectionOptions<T>, ask: Ask, failed: (error: unknown) => void) {
    this.#failed = failed
    this.#shape = shapeOf(options)
    this.#ask = ask
  }

  /** Takes over the options of a handle that was made later. */
  reshape(options: CollectionOptions<T>): void {
    this.#shape = shapeOf(options)
  }

  async get(id: string): Promise<T | undefined> {
    return (await this.#ask('get', id)) as T | undefined
  }

  async put(id: string, row: T): Promise<void> {
    const checked = this.#checked(row)
    await this.#inTurn(id, () => this.#ask('put', id, checked))
  }

  async create(id: string, row: T): Promise<boolean> {
    const checked = this.#checked(row)
    return (await this.#inTurn(id, () => this.#ask('create', id, checked))) as boolean
  }

  /** `change` is called again when somebody else has written in between. */
  update(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    return this.#inTurn(id, () => this.#updated(id, change))
  }

  async delete(id: string): Promise<boolean> {
    return (await this.#inTurn(id, () => this.#ask('delete', id))) as boolean
  }

  async #updated(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    for (;;) {
      const before = (await this.#ask('peek', id)) as T | undefined
      // What `change` does to the row it is given must not pass for what is stored.
      const next = change(structuredClone(before))
      if (next === undefined) return undefined
      const checked = this.#checked(next)
      if (await this.#ask('swap', id, before, checked)) return checked.row as T
    }
  }

  async list(options: ListOptions = {}): Promise<Page<T>> {
    return (await this.#ask('list', options)) as Page<T>
  }

  scan(options: ListOptions = {}): AsyncIterable<[id: string, row: T]> {
    return readOn(this.#ask, options) as AsyncIterable<[id: string, row: T]>
  }

  async count(options: Pick<ListOptions, 'index' | 'equals'> = {}): Promise<number> {
    return (await this.#ask('count', options)) as number
  }

  watch(listener: (change: Change<T>) => void): () => void {
    const own = (change: Change<T>): void => listener(change)
    this.#listeners.add(own)
    if (this.#listeners.size === 1) this.#ask('watch').catch(this.#failed)
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#ask('unwatch').catch(() => {})
    }
  }

  /** Resolves with the answer to it, if there is one. */
  async hear(news: PartNews): Promise<unknown> {
    if ('older' in news) {
      await this.#shape.prepare?.(news.older)
      return news.older.map((older) => this.#broughtUp(older))
    }
    for (const listener of [...this.#listeners]) {
      try {
        listener(news.changed as Change<T>)
      } catch (error) {
        this.#failed(error)
      }
    }
    return undefined
  }

  /** Writes to one id happen in the order in which they were called, also those that take several steps. */
  async #inTurn<R>(id: string, write: () => Promise<R>): Promise<R> {
    const before = this.#writing.get(id)
    const written = before ? before.then(write, write) : write()
    this.#writing.set(id, written)
    try {
      return await written
    } finally {
      if (this.#writing.get(id) === written) this.#writing.delete(id)
    }
  }

  #broughtUp({ row, version }: OlderRow): CheckedRow | undefined {
    try {
      return this.#checked(version === this.#shape.version ? row : this.#shape.migrate(row, version))
    } catch {
      return undefined
    }
  }

  #checked(given: unknown): CheckedRow {
    const row = this.#shape.parse(given)
    const { indexes } = this.#shape
    if (indexes.length > 0 && typeof row !== 'object')
      throw new HookFault('a row that is no object has no indexes in a worker')
    return { row, values: Object.fromEntries(indexes.map(([name, valuesOf]) => [name, valuesOf(row)])) }
  }
}

/** The rows of a listing, asked for batch by batch. */
export async function* readOn(ask: Ask, ...args: readonly unknown[]): AsyncGenerator<unknown> {
  let batch = (await ask('scan', ...args)) as Batch
  try {
    for (;;) {
      yield* batch.items
      if (batch.isOver) return
      batch = (await ask('more', batch.cursor)) as Batch
    }
  } finally {
    if (!batch.isOver) await ask('done', batch.cursor)
  }
}
