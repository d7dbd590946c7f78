import type { z } from 'zod'
import { StoredBodies } from '../bodies.ts'
import type { CollectionOptions, Counters, LogOptions, Store, StoreProblem } from '../index.ts'
import { Gate } from '../level/gate.ts'
import { joinName } from '../names.ts'
import { GuestCollection } from './guest-collection.ts'
import { GuestCounters } from './guest-counters.ts'
import { GuestLog, namesOf } from './guest-log.ts'
import { type GuestParts, isRefusal } from './guest-part.ts'
import { GuestSequence } from './guest-sequence.ts'
import { GuestTransactions } from './guest-transaction.ts'
import type { OpenPart, PartAsk, PartNews, StoreNews } from './messages.ts'

export interface GuestOptions {
  readonly send: (ask: PartAsk) => Promise<unknown>
  /** Called with errors that no caller waits for. */
  readonly failed: (error: unknown) => void
  readonly report?: (problem: StoreProblem) => void
  /** Closes all parts. */
  readonly gate?: Gate
  /** Milliseconds that what was counted may wait for more; 0 by default, which sends it in this turn. */
  readonly crossMs?: number
  /** Why there are no logs, where there are none. */
  readonly withoutLogs?: () => Error
}

/** Something of which all handles of one name are one, and its number on the other side. */
interface Opened<T> {
  readonly part: number
  readonly gate: Gate
  readonly is: T
}

type Kept = GuestCollection<never> | GuestLog<never> | GuestSequence<never> | Promise<GuestCounters>

/** The store as a thread has it that has it not: its parts are on the other side, their schemas and functions here. */
export class GuestStore {
  readonly #options: GuestOptions
  readonly #gate: Gate
  /** By kind and path. */
  readonly #parts = new Map<string, Opened<Kept>>()
  readonly #transactions: GuestTransactions
  #count = 0

  constructor(options: GuestOptions) {
    this.#options = options
    this.#transactions = new GuestTransactions(this, options.send)
    this.#gate = options.gate ?? new Gate()
  }

  /** The store in these namespaces. */
  at(path: readonly string[]): Store {
    const joined = (name: string): string => joinName(path.join('/'), name)
    return {
      collection: (name, options) => this.#collection(path, name, joined(name), options),
      log: (name, options) => this.#log(path, name, joined(name), options),
      sequence: (name, schema) => this.#sequence(path, name, joined(name), schema),
      counters: async (name) => this.#counters(path, name, joined(name)),
      bodies: (name, options) => {
        joined(name)
        return new StoredBodies(this.at([...path, 'bodies', name]), options)
      },
      namespace: (name) => {
        joined(name)
        return this.at([...path, name])
      },
      transaction: (write) => this.#gate.run(() => this.#transactions.run(write)),
      flush: () =>
        this.#gate.run(async () => {
          await this.cross(path.join('/'))
          await this.#options.send({ flush: path })
        }),
    }
  }

  /** Sends what waits in this path and below it; resolves when it is there. */
  async cross(path: string): Promise<void> {
    const concerned = this.#under((own) => path === '' || own === path || own.startsWith(`${path}/`))
    const crossing = concerned.map(([, { is }]) => crossed(is))
    await Promise.all(crossing)
  }

  /** What the other side tells; resolves with the answer to it. */
  async hear(news: StoreNews): Promise<unknown> {
    if ('wanted' in news) {
      return this.cross(news.wanted).catch((error) => isRefusal(error) || this.#options.failed(error))
    }
    if ('erased' in news) return this.#forget(news.erased)
    for (const { part, is } of this.#parts.values()) if (part === news.part) return hear(is, news)
    return undefined
  }

  /** Closes the parts whose path begins so; later handles are others. */
  async #forget(prefix: string): Promise<void> {
    const concerned = this.#under((path) => path.startsWith(prefix))
    for (const [key] of concerned) this.#parts.delete(key)
    await Promise.all(concerned.map(([, { gate }]) => gate.close()))
  }

  #collection<T>(
    path: readonly string[],
    name: string,
    joined: string,
    options: CollectionOptions<T>,
  ): GuestCollection<T> {
    const make = (parts: GuestParts) => new GuestCollection(options, parts)
    const { part, is, isNew } = this.#opened(`collection ${joined}`, joined, make)
    if (!isNew) is.reshape(options)
    const indexes = Object.keys(options.indexes ?? {})
    this.#open({ part, kind: 'collection', path, name, version: options.version, indexes })
    return is
  }

  #log<T>(path: readonly string[], name: string, joined: string, options: LogOptions<T>): GuestLog<T> {
    if (this.#options.withoutLogs) throw this.#options.withoutLogs()
    const { part, is, isNew } = this.#opened(`log ${joined}`, joined, (parts) => new GuestLog(options, parts))
    if (!isNew) is.reshape(options)
    this.#open({ part, kind: 'log', path, name, names: namesOf(options) })
    return is
  }

  #sequence<T>(
    path: readonly string[],
    name: string,
    joined: string,
    schema: z.ZodType<T>,
  ): GuestSequence<T> {
    const make = (parts: GuestParts) => new GuestSequence(schema, parts)
    const { part, is, isNew } = this.#opened(`sequence ${joined}`, joined, make)
    if (isNew) this.#open({ part, kind: 'sequence', path, name })
    else is.reshape(schema)
    return is
  }

  #counters(path: readonly string[], name: string, joined: string): Promise<Counters> {
    const key = `counters ${joined}`
    const { is } = this.#opened(key, joined, (parts, part) => {
      this.#open({ part, kind: 'counters', path, name })
      const loaded = GuestCounters.load(parts)
      loaded.catch(() => this.#parts.delete(key))
      return loaded
    })
    return is
  }

  /** What is known by this key, or is made now. */
  #opened<T>(
    key: string,
    path: string,
    make: (parts: GuestParts, part: number) => T,
  ): Opened<T> & { isNew: boolean } {
    const known = this.#parts.get(key) as Opened<unknown> | undefined
    if (known) return { ...(known as Opened<T>), isNew: false }
    this.#count += 1
    const part = this.#count
    const { send, failed, report = () => {}, crossMs = 0 } = this.#options
    const gate = new Gate(this.#gate)
    const ask = (method: string, ...args: readonly unknown[]) => send({ call: { part, method, args } })
    const opened = {
      part,
      gate,
      is: make({ owner: this, part, path, ask, gate, failed, report, crossMs }, part),
    }
    this.#parts.set(key, opened as Opened<unknown> as Opened<Kept>)
    return { ...opened, isNew: true }
  }

  #under(isConcerned: (path: string) => boolean): [key: string, Opened<Kept>][] {
    return [...this.#parts].filter(([key]) => isConcerned(key.slice(key.indexOf(' ') + 1)))
  }

  /** What is wrong with it, its first use tells. */
  #open(open: OpenPart): void {
    this.#options.send({ open }).catch(() => {})
  }
}

async function crossed(part: Kept): Promise<void> {
  if (part instanceof GuestLog || part instanceof GuestSequence) await part.cross()
  else if (part instanceof Promise) await (await part).cross()
}

async function hear(part: Kept, news: PartNews): Promise<unknown> {
  if (part instanceof GuestCollection || part instanceof GuestLog) return part.hear(news)
  if (part instanceof Promise && 'counted' in news) {
    const counters = await part
    counters.take(news.counted)
  }
  return undefined
}
