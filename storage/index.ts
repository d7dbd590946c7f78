import type { z } from 'zod'
import type { Bodies, BodiesOptions } from './bodies.ts'
import type { Collection, CollectionOptions } from './collection.ts'
import type { StoreErrorCode } from './errors.ts'
import type { Log, LogOptions } from './log.ts'
import type { Transaction } from './transaction.ts'

export type { Bodies, BodiesOptions, Body, BodyFacts } from './bodies.ts'
export type * from './collection.ts'
export { StoreError, type StoreErrorCode } from './errors.ts'
export type * from './log.ts'
export type * from './transaction.ts'

/** How the queue of a sequence is doing. */
export interface SequenceStatus {
  /** Entries that wait to be written. */
  readonly depth: number
  /** Entries that were refused since the start: queue full, not made or not fitting, or the store was closed. */
  readonly dropped: number
}

/** A gap-free, serialised sequence: each entry is made from the one before it. For ledgers. */
export interface Sequence<T> {
  /**
   * Resolves when the entry is on disk. Concurrent appends are put in one order and share an fsync. `make` may not be
   * asynchronous; when it throws, nothing is appended.
   */
  append(make: (previous: T | undefined, seq: number) => T): Promise<T>
  /**
   * Has an entry appended soon, and returns at once: false when 50,000 wait already, and then there will be none. `make` is called
   * later, when the entry is written, with those queued before; so an `append` may come before it. Entries are fsynced
   * together, ten times a second; a crash loses those that were not, and leaves no gap. Reads write what waits first. While the
   * disk refuses writes, entries wait; one of which it is not known whether it was written is written again.
   */
  queue(make: (previous: T | undefined, seq: number) => T): boolean
  /** Resolves when all that was queued before is on disk. */
  flush(): Promise<void>
  status(): SequenceStatus
  get(seq: number): Promise<T | undefined>
  /** Entries with `from <= seq < to`, in order. */
  scan(from?: number, to?: number): AsyncIterable<T>
  /** Seq of the last entry, 0 when there is none; the first entry has seq 1. */
  last(): Promise<number>
}

/**
 * Durable integers that many calls add to; adds are summed in memory and written every 250 ms. A sum ends at the largest
 * integer that is exact.
 */
export interface Counters {
  add(name: string, amount: number): void
  /** The value including what is not written yet. */
  get(name: string): number
  /** All counters whose name starts so, sorted by name. */
  entries(prefix?: string): Array<[name: string, value: number]>
  set(name: string, value: number): void
  /** Forgets one counter. It costs the same however many there are. */
  delete(name: string): void
  /** Forgets counters whose name starts so; all names are looked at. */
  clear(prefix: string): void
  /** Resolves when all values are fsynced. */
  flush(): Promise<void>
}

/** Something that a store noticed and survived. It names the place and never quotes a row. */
export interface StoreProblem {
  readonly code: StoreErrorCode
  /** The collection, log or sequence. */
  readonly part: string
  readonly id?: string
  readonly message: string
}

/** Whether an engine does its work: read-only refuses changes (`STORE_FAILED`), down answers nothing. */
export interface StoreHealth {
  readonly state: 'healthy' | 'read-only' | 'down'
  /** Why, in the words of the system; names no path. */
  readonly reason?: string
  /** Milliseconds since the epoch. */
  readonly since?: number
}

/** A part of the store under a name of its own. Names: `[a-z0-9_-]+`, joined by the engine. */
export interface Store {
  collection<T>(name: string, options: CollectionOptions<T>): Collection<T>
  log<T>(name: string, options: LogOptions<T>): Log<T>
  sequence<T>(name: string, schema: z.ZodType<T>): Sequence<T>
  /** Ready when it resolves: all values are in memory. */
  counters(name: string): Promise<Counters>
  /** Bytes of any size, as streams; they lie in the namespace `bodies`. */
  bodies(name: string, options?: BodiesOptions): Bodies
  namespace(name: string): Store
  /**
   * Makes changes of several collections and sequences of this store's engine, whatever their namespaces, in one batch with one
   * fsync. All changes are on disk when it resolves with the result of `write`, and none is made when it rejects. No other
   * change comes between the reads and the writes of `write`. Watchers learn of each changed row once, in its final state, when
   * all changes are on disk. `write` is called again when a collection was not ready, and in threads without the store when
   * another thread has written in between, so it may do nothing else; it may not be asynchronous.
   */
  transaction<R>(write: (transaction: Transaction) => R): Promise<R>
  /** Flushes every queue below this part; resolves when all is on disk. */
  flush(): Promise<void>
}

/** A file of an engine that cannot be read in whole. */
export interface FileDamage {
  readonly file: string
  readonly found: string
  /** The data that a repair loses. */
  readonly lost: string
}

/** Something that a store keeps twice and that was not the same. */
export interface Disagreement {
  /** The collection, log or sequence. */
  readonly part: string
  readonly found: string
  /** Whether it can be put right. */
  readonly canBeMended: boolean
}

/** Sums of a part of the store that are no whole numbers, so that nothing can be added to them. */
export interface OddSums {
  /** The log, or the counters. */
  readonly part: string
  /** How many cells or counters. */
  readonly sums: number
}

/** A row of a log that does not fit what its log holds, as it was stored. */
export interface UnfitRow {
  /** Its text, which may be no JSON. */
  readonly line: string
  /** Absent when it had none. */
  readonly body?: string
}

/** The data under a name in the store. */
export interface StoredPart {
  readonly kind: 'collection' | 'log' | 'sequence' | 'counters'
  /** Names of its namespaces and its own, joined by slashes. */
  readonly path: string
  /** Rows, entries or counters. */
  readonly entries: number
}

export interface Engine extends Store {
  readonly name: string
  /** The parts whose path begins so, by kind and path, also those that were not used since the store was opened. */
  contents(prefix: string): Promise<StoredPart[]>
  /**
   * Deletes the parts whose path begins so, and their bytes from the disk. Handles that were made of them before find them
   * closed (`STORE_CLOSED`); later ones find them empty. When it is cut short, it can be done again.
   */
  erase(prefix: string): Promise<void>
  /** Rewrites the data on disk, so that the bytes of deleted and replaced rows leave it. Reads and writes all of it. */
  compact(): Promise<void>
  /**
   * Writes what the store holds at one moment into a store of its own, in a folder that has none yet, while reading and
   * writing go on. All that was acknowledged before is in it; of what comes later all up to some moment, and nothing
   * behind it. Rejects, and leaves a part of it in the folder, when the store is closed or opened again in between.
   */
  copyTo(folder: string): Promise<void>
  /** Flushes and closes; further writes reject. */
  close(): Promise<void>
}
