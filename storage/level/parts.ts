import type { z } from 'zod'
import { StoredBodies } from '../bodies.ts'
import type { CollectionOptions, Counters, LogOptions, Store, StoredPart, Transaction } from '../index.ts'
import { joinName } from '../names.ts'
import type { Backing } from './backing.ts'
import { LevelCollection } from './collection.ts'
import { contentsOf, rangesOf } from './contents.ts'
import { LevelCounters } from './counters.ts'
import { Gate } from './gate.ts'
import { LevelLog } from './log.ts'
import type { LogFormat } from './log-blocks.ts'
import { LevelSequence } from './sequence.ts'
import { Transactions } from './transactions.ts'

/** Is there while a database is open, and stays when it was not closed. */
export const openKey = '!open'

/** All parts of an engine that were asked for, by kind and path: handles of one name are one object. */
export class Parts {
  readonly #backing: Backing
  readonly #logFormat: LogFormat
  readonly #gates = new Map<string, Gate>()
  readonly #collections = new Map<string, unknown>()
  readonly #logs = new Map<string, LevelLog<unknown>>()
  readonly #sequences = new Map<string, LevelSequence<unknown>>()
  readonly #counters = new Map<string, Promise<LevelCounters>>()
  /** Those of them that hold something. */
  readonly #loaded = new Map<string, LevelCounters>()
  readonly #transactions: Transactions

  constructor(backing: Backing, logFormat: LogFormat) {
    this.#backing = backing
    this.#transactions = new Transactions(backing)
    this.#logFormat = logFormat
  }

  collection<T>(path: string, options: CollectionOptions<T>): LevelCollection<T> {
    const known = this.#collections.get(path) as LevelCollection<T> | undefined
    if (known) known.reshape(options)
    const collection = known ?? new LevelCollection(this.#backingOf(path), path, options)
    this.#collections.set(path, collection)
    return collection
  }

  log<T>(path: string, options: LogOptions<T>): LevelLog<T> {
    const known = this.#logs.get(path) as LevelLog<T> | undefined
    if (known) known.reshape(options)
    const log = known ?? new LevelLog(this.#backingOf(path), path, options, this.#logFormat)
    this.#logs.set(path, log as LevelLog<unknown>)
    return log
  }

  sequence<T>(path: string, schema: z.ZodType<T>): LevelSequence<T> {
    const known = this.#sequences.get(path) as LevelSequence<T> | undefined
    if (known) known.reshape(schema)
    const sequence = known ?? new LevelSequence(this.#backingOf(path), path, schema)
    this.#sequences.set(path, sequence as LevelSequence<unknown>)
    return sequence
  }

  counters(path: string): Promise<Counters> {
    const known = this.#counters.get(path) ?? this.#loadCounters(path)
    this.#counters.set(path, known)
    return known
  }

  transaction<R>(write: (transaction: Transaction) => R): Promise<R> {
    return this.#transactions.run(write)
  }

  /** Writes what waits in this path and below it; fsynced when it resolves. */
  flush(path: string): Promise<void> {
    return this.#backing.gate.run(async () => {
      await this.#write((name) => path === '' || name.startsWith(`${path}/`))
      await this.#backing.writer.sync()
    })
  }

  /** Lets running operations end, writes everything that waits, and closes the database even when that fails. */
  async close(settle: () => Promise<void>): Promise<void> {
    const { gate, writer, database } = this.#backing
    await gate.close()
    try {
      await settle()
      const parts = [...this.#logs.values(), ...this.#loaded.values(), ...this.#sequences.values()]
      await Promise.all(parts.map((part) => part.close()))
      writer.delete(openKey)
      await writer.commit()
    } finally {
      await database.close()
    }
  }

  contents(prefix: string): Promise<StoredPart[]> {
    const { gate, writer } = this.#backing
    return gate.run(async () => {
      await this.#write((path) => path.startsWith(prefix))
      await writer.sync()
      // Already inside the gate: waiting at it again would last for ever while it is held.
      return contentsOf({ ...this.#backing, gate: new Gate() }, prefix, this.#logFormat)
    })
  }

  /** Closes what was handed out of these parts, and deletes them. */
  erase(prefix: string): Promise<void> {
    return this.#backing.gate.run(async () => {
      const isConcerned = (path: string): boolean => path.startsWith(prefix)
      const gates = [...this.#gates].filter(([path]) => isConcerned(path))
      await Promise.all(gates.map(([, gate]) => gate.close()))
      await this.#write(isConcerned)
      for (const known of [
        this.#gates,
        this.#collections,
        this.#logs,
        this.#sequences,
        this.#counters,
        this.#loaded,
      ])
        for (const path of known.keys()) if (isConcerned(path)) known.delete(path)
      const ranges = rangesOf(prefix)
      await this.#backing.writer.clear(ranges)
      for (const range of ranges) await this.#backing.writer.compact(range)
    })
  }

  /** What the parts of one path work with: they can be closed without the others. */
  #backingOf(path: string): Backing {
    const gate = this.#gates.get(path) ?? new Gate(this.#backing.gate)
    this.#gates.set(path, gate)
    return { ...this.#backing, gate }
  }

  /** Writes what waits in some paths, without an fsync. */
  async #write(isConcerned: (path: string) => boolean): Promise<void> {
    const concerned = [...this.#logs, ...this.#loaded].filter(([path]) => isConcerned(path))
    const queues = [...this.#sequences].filter(([path]) => isConcerned(path))
    await Promise.all([
      ...concerned.map(([, part]) => part.write()),
      ...queues.map(([, part]) => part.writeQueue()),
    ])
  }

  #loadCounters(path: string): Promise<LevelCounters> {
    const counters = new LevelCounters(this.#backingOf(path), path)
    const loaded = this.#backing.gate.run(async () => {
      await counters.load()
      this.#loaded.set(path, counters)
      return counters
    })
    loaded.catch(() => this.#counters.delete(path))
    return loaded
  }
}

/** The store at a path. */
export function storeAt(parts: Parts, path: string): Store {
  return {
    collection: (name, options) => parts.collection(joinName(path, name), options),
    log: (name, options) => parts.log(joinName(path, name), options),
    sequence: (name, schema) => parts.sequence(joinName(path, name), schema),
    counters: async (name) => parts.counters(joinName(path, name)),
    bodies: (name, options) =>
      new StoredBodies(storeAt(parts, joinName(joinName(path, 'bodies'), name)), options),
    namespace: (name) => storeAt(parts, joinName(path, name)),
    transaction: (write) => parts.transaction(write),
    flush: () => parts.flush(path),
  }
}
