import type { z } from 'zod'
import type { CollectionOptions, Counters, LogOptions, Store } from '../index.ts'
import { joinName } from '../names.ts'
import type { Backing } from './backing.ts'
import { LevelCollection } from './collection.ts'
import { LevelCounters } from './counters.ts'
import { LevelLog } from './log.ts'
import type { LogFormat } from './log-blocks.ts'
import { LevelSequence } from './sequence.ts'

/** All parts of an engine that were asked for, by kind and path: handles of one name are one object. */
export class Parts {
  readonly #backing: Backing
  readonly #logFormat: LogFormat
  readonly #collections = new Map<string, unknown>()
  readonly #logs = new Map<string, LevelLog<unknown>>()
  readonly #sequences = new Map<string, unknown>()
  readonly #counters = new Map<string, Promise<LevelCounters>>()

  constructor(backing: Backing, logFormat: LogFormat) {
    this.#backing = backing
    this.#logFormat = logFormat
  }

  collection<T>(path: string, options: CollectionOptions<T>): LevelCollection<T> {
    const known = this.#collections.get(path) as LevelCollection<T> | undefined
    if (known) known.reshape(options)
    const collection = known ?? new LevelCollection(this.#backing, path, options)
    this.#collections.set(path, collection)
    return collection
  }

  log<T>(path: string, options: LogOptions<T>): LevelLog<T> {
    const known = this.#logs.get(path) as LevelLog<T> | undefined
    if (known) known.reshape(options)
    const log = known ?? new LevelLog(this.#backing, path, options, this.#logFormat)
    this.#logs.set(path, log as LevelLog<unknown>)
    return log
  }

  sequence<T>(path: string, schema: z.ZodType<T>): LevelSequence<T> {
    const known = this.#sequences.get(path) as LevelSequence<T> | undefined
    if (known) known.reshape(schema)
    const sequence = known ?? new LevelSequence(this.#backing, path, schema)
    this.#sequences.set(path, sequence)
    return sequence
  }

  counters(path: string): Promise<Counters> {
    const known = this.#counters.get(path) ?? this.#loadCounters(path)
    this.#counters.set(path, known)
    return known
  }

  /** Writes what waits in this path and below it; fsynced when it resolves. */
  flush(path: string): Promise<void> {
    const isBelow = ([name]: [string, unknown]) => path === '' || name.startsWith(`${path}/`)
    return this.#backing.gate.run(async () => {
      const counters = await Promise.all([...this.#counters].filter(isBelow).map(([, one]) => one))
      const logs = [...this.#logs].filter(isBelow).map(([, log]) => log)
      await Promise.all([...logs, ...counters].map((part) => part.write()))
      await this.#backing.writer.sync()
    })
  }

  /** Lets running operations end, writes everything that waits, and closes the database even when that fails. */
  async close(): Promise<void> {
    const { gate, writer, database } = this.#backing
    await gate.close()
    try {
      const counters = await Promise.all(this.#counters.values())
      await Promise.all([...this.#logs.values(), ...counters].map((part) => part.close()))
      await writer.sync()
    } finally {
      await database.close()
    }
  }

  #loadCounters(path: string): Promise<LevelCounters> {
    const counters = new LevelCounters(this.#backing, path)
    const loaded = this.#backing.gate.run(() => counters.load().then(() => counters))
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
    namespace: (name) => storeAt(parts, joinName(path, name)),
    flush: () => parts.flush(path),
  }
}
