import { StoreError } from '../errors.ts'
import type { Change, Collection, CollectionOptions, CountOptions, ListOptions, Page } from '../index.ts'
import { checkId, isId } from '../names.ts'
import type { Backing, Snapshot } from './backing.ts'
import { Listeners } from './listeners.ts'
import { type ListedRow, rowPages, totalOf } from './listing.ts'
import { cursorOf, type ListingPlan, planListing } from './listing-plan.ts'
import { migrateRows } from './migrations.ts'
import { readingOn } from './reading-on.ts'
import { Rows } from './rows.ts'
import { shapeOf } from './shape.ts'

/** A listing of one moment: its rows are of the version that they had then. */
interface Reading {
  readonly plan: ListingPlan
  readonly snapshot: Snapshot
  readonly version: number
}

/**
 * A collection in LevelDB. Every write reads, decides and joins the waiting group within one turn of the event loop,
 * which is what serialises writes; only the wait for the disk is asynchronous. Reads see what is on disk.
 */
export class LevelCollection<T> implements Collection<T> {
  readonly backing: Backing
  /** For operations inside the gate, once the collection is ready. */
  readonly rows: Rows<T>
  readonly #path: string
  readonly #listeners: Listeners<T>
  #ready: Promise<void>
  #isReady = false

  constructor(backing: Backing, path: string, options: CollectionOptions<T>) {
    this.backing = backing
    this.#path = path
    this.rows = new Rows(backing, path, options)
    this.#listeners = new Listeners(path, backing.report)
    this.#ready = this.#prepare(Promise.resolve())
  }

  /** Takes over the options of a handle that was made later. */
  reshape(options: CollectionOptions<T>): void {
    this.rows.shape = shapeOf(options)
    this.#isReady = false
    this.#ready = this.#prepare(this.#ready.catch(() => {}))
  }

  get(id: string): Promise<T | undefined> {
    return this.run(() => {
      if (!isId(id)) return undefined
      const text = this.backing.database.getSync(this.rows.keys.row(id))
      return text === undefined ? undefined : this.rows.decodeOrThrow(id, text)
    })
  }

  put(id: string, row: T): Promise<void> {
    return this.run(async () => {
      checkId(id)
      const parsed = this.rows.shape.parse(row)
      if (this.rows.isDamaged(id)) await this.rows.mend(id)
      await this.#write(id, parsed)
    })
  }

  create(id: string, row: T): Promise<boolean> {
    return this.run(async () => {
      checkId(id)
      const parsed = this.rows.shape.parse(row)
      if (this.rows.has(id)) {
        await this.rows.settled(id)
        return false
      }
      await this.#write(id, parsed)
      return true
    })
  }

  update(id: string, change: (row: T | undefined) => T | undefined): Promise<T | undefined> {
    return this.run(async () => {
      const next = change(isId(id) ? this.rows.read(id) : undefined)
      if (next === undefined) {
        await this.rows.settled(id)
        return undefined
      }
      checkId(id)
      const parsed = this.rows.shape.parse(next)
      await this.#write(id, parsed)
      return parsed
    })
  }

  delete(id: string): Promise<boolean> {
    return this.run(async () => {
      if (!isId(id)) return false
      if (this.rows.isDamaged(id)) await this.rows.mend(id)
      if (!this.rows.has(id)) {
        await this.rows.settled(id)
        return false
      }
      await this.#write(id, undefined)
      return true
    })
  }

  list(options: ListOptions = {}): Promise<Page<T>> {
    return this.run(async () => {
      const reading = this.#read(options)
      try {
        const total = await totalOf(this.backing.database, reading.plan, reading.snapshot)
        return await this.#page(reading, total)
      } finally {
        await reading.snapshot.close()
      }
    })
  }

  async *scan(options: ListOptions = {}): AsyncIterable<[id: string, row: T]> {
    const reading = await this.run(() => this.#read(options))
    try {
      for await (const { id, text } of readingOn(this.backing.gate, this.#listed(reading))) {
        const row = this.rows.decode(id, text, reading.version)
        if (row !== undefined) yield [id, row]
      }
    } finally {
      await reading.snapshot.close()
    }
  }

  count(options: CountOptions = {}): Promise<number> {
    return this.run(async () => {
      const { plan, snapshot } = this.#read(options)
      try {
        return await totalOf(this.backing.database, plan, snapshot)
      } finally {
        await snapshot.close()
      }
    })
  }

  watch(listener: (change: Change<T>) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Whether the rows are of the current shape in this turn, and not only at the last wait. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Notifies the watchers of a written row. */
  announce(id: string, row: T | undefined): void {
    this.#listeners.announce({ id, row })
  }

  /** Does something inside the gate when the rows are of the current shape. */
  async run<R>(operation: () => R | Promise<R>): Promise<R> {
    for (;;) {
      const outcome = await this.backing.gate.run(async () => {
        const ready = this.#ready
        await ready.catch((error) => this.#prepareAgain(error, ready))
        return this.#isReady && { value: await operation() }
      })
      if (outcome) return outcome.value
      // Another shape was asked for meanwhile. The wait for it is outside of the gate, as preparing may have to wait for the gate.
    }
  }

  #prepare(before: Promise<void>): Promise<void> {
    const ready: Promise<void> = this.backing.gate.run(async () => {
      await before
      await this.#migrate()
    })
    ready.then(
      () => {
        this.#isReady = this.#ready === ready
      },
      () => {},
    )
    return ready
  }

  /** The disk may accept now what it refused before. The caller is already inside the gate. */
  async #prepareAgain(error: unknown, failed: Promise<void>): Promise<void> {
    if (!(error instanceof StoreError) || error.code !== 'STORE_FAILED') throw error
    if (this.#ready === failed) this.#ready = this.#migrate()
    const ready = this.#ready
    await ready
    this.#isReady = this.#ready === ready
  }

  #migrate(): Promise<void> {
    return migrateRows(this.backing, this.rows.keys, this.#path, this.rows.shape)
  }

  async #write(id: string, row: T | undefined): Promise<void> {
    this.rows.write(id, row === undefined ? undefined : this.rows.encode(row))
    await this.backing.writer.commit()
    this.announce(id, row)
  }

  /** Throws for a listing that cannot be; else its snapshot must be closed. */
  #read(options: ListOptions): Reading {
    const { indexes, version } = this.rows.shape
    const plan = planListing(this.rows.keys, indexes, options)
    return { plan, version, snapshot: this.backing.database.snapshot() }
  }

  /** One row more than the page has is looked for: whether there is another page. */
  async #page({ plan, ...reading }: Reading, total: number): Promise<Page<T>> {
    const items: T[] = []
    let read = 0
    let last: string | undefined
    let next: string | undefined
    for await (const { key, id, text } of this.#listed({
      ...reading,
      plan: { ...plan, limit: plan.limit + 1 },
    })) {
      if (read === plan.limit) {
        next = last === undefined ? undefined : cursorOf(plan, last)
        break
      }
      read += 1
      last = key
      const row = this.rows.decode(id, text, reading.version)
      if (row !== undefined) items.push(row)
    }
    const unreadable = read - items.length
    return {
      items,
      total,
      ...(next !== undefined && { next }),
      ...(unreadable > 0 && { unreadable }),
    }
  }

  async *#listed({ plan, snapshot }: Reading): AsyncIterable<ListedRow> {
    for await (const page of rowPages(this.backing.database, this.rows.keys, plan, snapshot)) yield* page
  }
}
