import { StoreError } from '../errors.ts'
import type {
  Change,
  Collection,
  CollectionOptions,
  CountOptions,
  ListOptions,
  OlderRow,
  Page,
} from '../index.ts'
import { type Shape, shapeOf } from '../level/shape.ts'
import type { CheckedRow } from './checked-row.ts'
import { type GuestParts, readOn } from './guest-part.ts'
import type { PartNews } from './messages.ts'

/** A collection as a thread has it that has not the store: rows are checked here, and kept on the other side. */
export class GuestCollection<T> implements Collection<T> {
  readonly parts: GuestParts
  readonly #listeners = new Set<(change: Change<T>) => void>()
  /** The write of each id that was called last. */
  readonly #writing = new Map<string, Promise<unknown>>()
  #shape: Shape<T>

  /** Throws `NAME_INVALID` for names of indexes that cannot be. */
  constructor(options: CollectionOptions<T>, parts: GuestParts) {
    this.#shape = shapeOf(options)
    this.parts = parts
  }

  /** Takes over the options of a handle that was made later. */
  reshape(options: CollectionOptions<T>): void {
    this.#shape = shapeOf(options)
  }

  get(id: string): Promise<T | undefined> {
    return this.#ask('get', id) as Promise<T | undefined>
  }

  async put(id: string, row: T): Promise<void> {
    const checked = this.#checked(row)
    await this.#inTurn(id, () => this.parts.ask('put', id, checked))
  }

  async create(id: string, row: T): Promise<boolean> {
    const checked = this.#checked(row)
    return (await this.#inTurn(id, () => this.parts.ask('create', id, checked))) as boolean
  }

  /** `change` is called again when another thread has written in between. */
  update(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    return this.#inTurn(id, () => this.#updated(id, change))
  }

  delete(id: string): Promise<boolean> {
    return this.#inTurn(id, () => this.parts.ask('delete', id)) as Promise<boolean>
  }

  async #updated(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    for (;;) {
      const before = (await this.parts.ask('peek', id)) as T | undefined
      // What `change` does to the row it is given must not pass for what is stored.
      const next = change(structuredClone(before))
      if (next === undefined) return undefined
      const checked = this.#checked(next)
      if (await this.parts.ask('swap', id, before, checked)) return checked.row as T
    }
  }

  list(options: ListOptions = {}): Promise<Page<T>> {
    return this.#ask('list', options) as Promise<Page<T>>
  }

  scan(options: ListOptions = {}): AsyncIterable<[id: string, row: T]> {
    return readOn(this.parts, options) as AsyncIterable<[id: string, row: T]>
  }

  count(options: CountOptions = {}): Promise<number> {
    return this.#ask('count', options) as Promise<number>
  }

  watch(listener: (change: Change<T>) => void): () => void {
    const own = (change: Change<T>): void => listener(change)
    this.#listeners.add(own)
    if (this.#listeners.size === 1) this.parts.ask('watch').catch(this.parts.failed)
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.parts.ask('unwatch').catch(() => {})
    }
  }

  /** Resolves with the answer to it, if there is one. */
  async hear(news: PartNews): Promise<unknown> {
    if ('older' in news) {
      await this.#shape.prepare?.(news.older)
      return news.older.map((older) => this.#broughtUp(older))
    }
    if (!('changed' in news)) return undefined
    await Promise.all([...this.#listeners].map((listener) => this.#told(listener, news.changed as Change<T>)))
    return undefined
  }

  async #told(listener: (change: Change<T>) => unknown, change: Change<T>): Promise<void> {
    try {
      await listener(change)
    } catch (error) {
      this.parts.failed(error)
    }
  }

  #ask(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.parts.gate.run(() => this.parts.ask(method, ...args))
  }

  /** Writes to one id happen in the order in which they were called, also those that take several steps. */
  #inTurn<R>(id: string, write: () => Promise<R>): Promise<R> {
    return this.parts.gate.run(() => this.#afterOthers(id, write))
  }

  async #afterOthers<R>(id: string, write: () => Promise<R>): Promise<R> {
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
    return this.checkedOf(this.parse(given))
  }

  /** Throws `ROW_INVALID`. */
  parse(row: unknown): T {
    return this.#shape.parse(row)
  }

  /** A row that went through the schema, as it crosses. Throws what an index function throws. */
  checkedOf(row: T): CheckedRow {
    const { indexes } = this.#shape
    if (indexes.length > 0 && typeof row !== 'object')
      throw new StoreError(
        'ROW_INVALID',
        'A row that is not an object cannot have indexes in a thread without the store.',
      )
    return { row, values: Object.fromEntries(indexes.map(([name, valuesOf]) => [name, valuesOf(row)])) }
  }
}
