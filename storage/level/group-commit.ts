import type { Level } from 'level'
import { StoreError } from '../errors.ts'

export type Database = Level<string, string>
export type StoredValue = string | Uint8Array

/** What LevelDB can do and a browser cannot, so that the types of `level` leave it out. */
interface Compactable {
  compactRange(start: string, end: string): Promise<void>
}

/** A half-open range of keys. */
export interface KeyRange {
  readonly gte: string
  readonly lt: string
}

interface Group {
  readonly changes: Map<string, StoredValue | undefined>
  readonly done: PromiseWithResolvers<void>
  durable: boolean
  asked: boolean
}

const syncKey = '!sync'

/**
 * The only writer of the database. Changes made in one turn of the event loop, and all that arrive while a batch is
 * being written, become the next atomic batch and share its fsync. `read` sees changes that still wait, so that
 * read-modify-write within one turn needs no lock. When a batch fails, the changes waiting behind it fail too, as
 * they may have been built on it, and so does everything later: what LevelDB appends after a torn record may be lost
 * at the next open, so nothing may be acknowledged any more. Reading goes on.
 */
export class GroupCommit {
  readonly #database: Database
  #waiting = emptyGroup()
  #writing: Group | undefined
  #scheduled = false
  #unsynced = false
  #failure: StoreError | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** The newest value of a key, written or waiting. */
  read(key: string): string | undefined {
    for (const group of [this.#waiting, this.#writing]) {
      if (!group?.changes.has(key)) continue
      const value = group.changes.get(key)
      return value === undefined || typeof value === 'string' ? value : Buffer.from(value).toString()
    }
    return this.#database.getSync(key)
  }

  put(key: string, value: StoredValue): void {
    this.#waiting.changes.set(key, value)
  }

  delete(key: string): void {
    this.#waiting.changes.set(key, undefined)
  }

  /** Adds to an integer kept as text; a key whose integer reaches zero is deleted. */
  add(key: string, amount: number): void {
    const sum = Number(this.read(key) ?? 0) + amount
    if (sum === 0) this.delete(key)
    else this.put(key, String(sum))
  }

  /**
   * Resolves when everything changed so far in this turn is written: on disk when durable, else handed to the
   * operating system, which survives the end of the process but not a power cut.
   */
  commit(durable = true): Promise<void> {
    if (this.#failure) {
      this.#waiting = emptyGroup()
      return Promise.reject(this.#failure)
    }
    const group = this.#waiting
    group.durable ||= durable
    group.asked = true
    this.#schedule()
    return group.done.promise
  }

  /** Resolves when no change to this key waits any more; rejects when such a change fails. */
  async settled(key: string): Promise<void> {
    const group = [this.#waiting, this.#writing].find((candidate) => candidate?.changes.has(key))
    await group?.done.promise
  }

  /** Resolves when all that was handed over before is on disk. */
  async sync(): Promise<void> {
    if (this.#writing || this.#waiting.asked || this.#unsynced) {
      this.put(syncKey, '')
      await this.commit()
    }
  }

  /** Deletes all keys of these ranges, for which no change may wait; on disk when it resolves. */
  async clear(ranges: readonly KeyRange[]): Promise<void> {
    for (const range of ranges) await this.#database.clear(range)
    this.put(syncKey, '')
    await this.commit()
  }

  /** Rewrites a range on disk, so that the bytes of what was deleted in it leave. */
  compact({ gte, lt }: KeyRange): Promise<void> {
    return (this.#database as Database & Compactable).compactRange(gte, lt)
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || !this.#waiting.asked) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#write()
    })
  }

  async #write(): Promise<void> {
    const group = this.#waiting
    this.#waiting = emptyGroup()
    this.#writing = group
    try {
      if (group.changes.size > 0)
        await this.#database.batch<string, StoredValue>(operations(group), { sync: group.durable })
      this.#unsynced = group.changes.size > 0 ? !group.durable : this.#unsynced
      this.#writing = undefined
      group.done.resolve()
      this.#schedule()
    } catch (cause) {
      this.#writing = undefined
      this.#fail(group, cause)
    }
  }

  #fail(group: Group, cause: unknown): void {
    const message =
      'The disk refused a write. Check its space and health, then open the store again to write.'
    this.#failure = new StoreError('STORE_FAILED', message, cause)
    group.done.reject(this.#failure)
    this.#waiting.done.reject(this.#failure)
    this.#waiting = emptyGroup()
  }
}

function emptyGroup(): Group {
  const done = Promise.withResolvers<void>()
  done.promise.catch(() => {})
  return { changes: new Map(), done, durable: false, asked: false }
}

function operations(group: Group) {
  return Array.from(group.changes, ([key, value]) => {
    if (value === undefined) return { type: 'del' as const, key }
    if (typeof value === 'string') return { type: 'put' as const, key, value }
    return { type: 'put' as const, key, value, valueEncoding: 'view' as const }
  })
}
