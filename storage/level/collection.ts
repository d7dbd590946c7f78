import { StoreError } from '../errors.ts'
import type { Change, Collection, CollectionOptions, ListOptions, Page } from '../index.ts'
import { checkId, isId } from '../names.ts'
import type { Backing, Snapshot } from './backing.ts'
import { Listeners } from './listeners.ts'
import { entryPages, type ListingPlan, planListing } from './listing.ts'
import { migrateRows } from './migrations.ts'
import { readingOn } from './reading-on.ts'
import { CollectionKeys, entriesOf, repairEntries, writeRow } from './row-writer.ts'
import { type Shape, shapeOf } from './shape.ts'
import { decodeRow, jsonOfVersion } from './stored-row.ts'

/**
 * A collection in LevelDB. Every write reads, decides and joins the waiting group within one turn of the event loop,
 * which is what serialises writes; only the wait for the disk is asynchronous. Reads see what is on disk.
 */
export class LevelCollection<T> implements Collection<T> {
  readonly #backing: Backing
  readonly #path: string
  readonly #keys: CollectionKeys
  readonly #listeners: Listeners<T>
  #shape: Shape<T>
  #ready: Promise<void>

  constructor(backing: Backing, path: string, options: CollectionOptions<T>) {
    this.#backing = backing
    this.#path = path
    this.#keys = new CollectionKeys(path)
    this.#listeners = new Listeners(path, backing.report)
    this.#shape = shapeOf(options)
    this.#ready = this.#prepare(Promise.resolve())
  }

  /** Takes over the options of a handle that was made later. */
  reshape(options: CollectionOptions<T>): void {
    this.#shape = shapeOf(options)
    this.#ready = this.#prepare(this.#ready.catch(() => {}))
  }

  get(id: string): Promise<T | undefined> {
    return this.#run(() => {
      if (!isId(id)) return undefined
      const text = this.#backing.database.getSync(this.#keys.row(id))
      return text === undefined ? undefined : this.#readOrThrow(id, text)
    })
  }

  put(id: string, row: T): Promise<void> {
    return this.#run(async () => {
      checkId(id)
      const parsed = this.#shape.parse(row)
      if (this.#isDamaged(id)) await repairEntries(this.#backing, this.#keys, id)
      await this.#write(id, parsed)
    })
  }

  create(id: string, row: T): Promise<boolean> {
    return this.#run(async () => {
      checkId(id)
      const parsed = this.#shape.parse(row)
      if (this.#backing.writer.read(this.#keys.row(id)) !== undefined) {
        await this.#backing.writer.settled(this.#keys.row(id))
        return false
      }
      await this.#write(id, parsed)
      return true
    })
  }

  update(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    return this.#run(async () => {
      checkId(id)
      const text = this.#backing.writer.read(this.#keys.row(id))
      const next = change(text === undefined ? undefined : this.#readOrThrow(id, text))
      if (next === undefined) {
        await this.#backing.writer.settled(this.#keys.row(id))
        return undefined
      }
      const parsed = this.#shape.parse(next)
      await this.#write(id, parsed)
      return parsed
    })
  }

  delete(id: string): Promise<boolean> {
    return this.#run(async () => {
      if (!isId(id)) return false
      if (this.#isDamaged(id)) await repairEntries(this.#backing, this.#keys, id)
      if (this.#backing.writer.read(this.#keys.row(id)) === undefined) {
        await this.#backing.writer.settled(this.#keys.row(id))
        return false
      }
      await this.#write(id, undefined)
      return true
    })
  }

  list(options: ListOptions = {}): Promise<Page<T>> {
    return this.#run(async () => {
      const plan = planListing(this.#keys, this.#shape.indexes, options)
      const snapshot = this.#backing.database.snapshot()
      try {
        const total = Number(this.#backing.database.getSync(plan.countKey, { snapshot }) ?? 0)
        const items: T[] = []
        let unreadable = 0
        for await (const [, row] of this.#rows(plan, snapshot)) {
          if (row === undefined) unreadable++
          else items.push(row)
        }
        return unreadable === 0 ? { items, total } : { items, total, unreadable }
      } finally {
        await snapshot.close()
      }
    })
  }

  async *scan(options: ListOptions = {}): AsyncIterable<[id: string, row: T]> {
    await this.#run(() => {})
    const plan = planListing(this.#keys, this.#shape.indexes, options)
    const snapshot = this.#backing.database.snapshot()
    try {
      for await (const [id, row] of readingOn(this.#backing.gate, this.#rows(plan, snapshot)))
        if (row !== undefined) yield [id, row]
    } finally {
      await snapshot.close()
    }
  }

  count(options: Pick<ListOptions, 'index' | 'equals'> = {}): Promise<number> {
    return this.#run(() => {
      const { countKey } = planListing(this.#keys, this.#shape.indexes, options)
      return Number(this.#backing.database.getSync(countKey) ?? 0)
    })
  }

  watch(listener: (change: Change<T>) => void): () => void {
    return this.#listeners.add(listener)
  }

  #run<R>(operation: () => R | Promise<R>): Promise<R> {
    return this.#backing.gate.run(async () => {
      const ready = this.#ready
      await ready.catch((error) => this.#prepareAgain(error, ready))
      return operation()
    })
  }

  #prepare(before: Promise<void>): Promise<void> {
    const ready = this.#backing.gate.run(async () => {
      await before
      await this.#migrate()
    })
    ready.catch(() => {})
    return ready
  }

  /** What the disk refused, it may take now; who comes here is inside the gate already. */
  async #prepareAgain(error: unknown, failed: Promise<void>): Promise<void> {
    if (!(error instanceof StoreError) || error.code !== 'STORE_FAILED') throw error
    if (this.#ready === failed) this.#ready = this.#migrate()
    await this.#ready
  }

  #migrate(): Promise<void> {
    return migrateRows(this.#backing, this.#keys, this.#path, this.#shape)
  }

  async #write(id: string, row: T | undefined): Promise<void> {
    const { writer } = this.#backing
    const { version, indexes } = this.#shape
    const next = row === undefined ? undefined : { version, entries: entriesOf(indexes, row), row }
    writeRow(this.#backing, this.#keys, id, next)
    await writer.commit()
    this.#listeners.announce({ id, row })
  }

  #isDamaged(id: string): boolean {
    const text = this.#backing.writer.read(this.#keys.row(id))
    return text !== undefined && decodeRow(text) === undefined
  }

  async *#rows(plan: ListingPlan, snapshot: Snapshot): AsyncIterable<[id: string, row: T | undefined]> {
    for await (const entries of entryPages(this.#backing.database, this.#keys, plan, snapshot)) {
      for (const [id, text] of entries) yield [id, this.#read(id, text)]
    }
  }

  #read(id: string, text: string): T | undefined {
    try {
      const json = jsonOfVersion(text, this.#shape.version)
      if (json !== undefined) return JSON.parse(json)
    } catch {}
    const message = 'A stored row cannot be read. Replace or delete it.'
    this.#backing.report({ code: 'ROW_UNREADABLE', part: this.#path, id, message })
    return undefined
  }

  #readOrThrow(id: string, text: string): T {
    const row = this.#read(id, text)
    if (row === undefined) {
      throw new StoreError(
        'ROW_UNREADABLE',
        `Row ${id} of ${this.#path} cannot be read. Replace or delete it.`,
      )
    }
    return row
  }
}
