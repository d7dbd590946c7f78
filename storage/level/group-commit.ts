import type { Level } from 'level'
import { StoreError } from '../errors.ts'
import { reasonOf } from './reason.ts'

export type Database = Level<string, string>
export type StoredValue = string | Uint8Array

/** What LevelDB can do and a browser cannot, so that the types of `level` leave it out. */
export interface Compactable {
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
 * they may have been built on it, and so does everything later, until the database was opened again (`renew`): what
 * LevelDB appends after a torn record may be lost, so nothing may be acknowledged before. Reading goes on.
 */
export class GroupCommit {
  readonly #database: Database
  #waiting = emptyGroup()
  #writing: Group | undefined
  #scheduled = false
  #unsynced = false
  readonly #failed: (failure: StoreError) => void
  #failure: StoreError | undefined

  /** Calls `failed` when nothing more is written. */
  constructor(database: Database, failed: (failure: StoreError) => void = () => {}) {
    this.#database = database
    this.#failed = failed
  }

  /** Why nothing is written; undefined while all is well. */
  get failure(): StoreError | undefined {
    return this.#failure
  }

  /** Writes again, on a database that was opened again: what was handed over before is on disk. */
  renew(): void {
    this.#failure = undefined
    this.#unsynced = false
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
    if (this.#failure) throw this.#failure
    try {
      for (const range of ranges) await this.#database.clear(range)
    } catch (cause) {
      throw this.#refuse(cause)
    }
    this.put(syncKey, '')
    await this.commit()
  }

  /** Rewrites a range on disk, so that the bytes of what was deleted in it leave. */
  async compact({ gte, lt }: KeyRange): Promise<void> {
    const database = this.#database as Database & Compactable
    await database.compactRange(gte, lt)
    // LevelDB rewrites a table only below one that overlaps it, so the table that it has made of its memory needs one above.
    for (const edge of [gte, lt]) this.#touch(edge)
    await this.commit()
    await database.compactRange(gte, lt)
  }

  /** Writes what a key has, also nothing. */
  #touch(key: string): void {
    const value = this.read(key)
    if (value === undefined) this.delete(key)
    else this.put(key, value)
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || !this.#waiting.asked) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#write().catch((cause) => this.#waiting.done.reject(cause))
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
      group.done.reject(this.#refuse(cause))
    }
  }

  /** Refuses what waits and what comes, and tells so. */
  #refuse(cause: unknown): StoreError {
    const message = `The store refuses writes at the moment (${reasonOf(cause)}). It retries automatically: check the free space and the health of its disk.`
    const failure = new StoreError('STORE_FAILED', message, cause)
    this.#failure = failure
    this.#waiting.done.reject(failure)
    this.#waiting = emptyGroup()
    this.#failed(failure)
    return failure
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
