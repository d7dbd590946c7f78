import type { z } from 'zod'
import type { CollectionOptions, Counters, Store } from '../../../../storage/index.ts'
import { joinName } from '../../../../storage/names.ts'
import { HookFault } from '../../../chain/hook-fault.ts'
import { type Ask, GuestCollection } from './guest-collection.ts'
import { GuestCounters } from './guest-counters.ts'
import { GuestSequence } from './guest-sequence.ts'
import type { OpenPart, PartCall, PartNews } from './messages.ts'

/** What the store of a worker sends to the other side. */
export type StoreAsk =
  | { readonly open: OpenPart }
  | { readonly call: PartCall }
  | { readonly flush: readonly string[] }

/** The store as a module in a worker has it: its parts are on the other side, their schemas and functions here. */
export class GuestStore {
  readonly #send: (ask: StoreAsk) => Promise<unknown>
  readonly #failed: (error: unknown) => void
  readonly #collections = new Map<string, [number, GuestCollection<unknown>]>()
  readonly #sequences = new Map<string, [number, GuestSequence<unknown>]>()
  readonly #counters = new Map<string, Promise<Counters>>()
  #count = 0

  /** `failed` is told what goes wrong that nobody waits for. */
  constructor(send: (ask: StoreAsk) => Promise<unknown>, failed: (error: unknown) => void) {
    this.#failed = failed
    this.#send = send
  }

  /** The store in these namespaces. */
  at(path: readonly string[]): Store {
    const joined = (name: string): string => joinName(path.join('/'), name)
    return {
      collection: (name, options) => this.#collection(path, name, joined(name), options),
      sequence: (name, schema) => this.#sequence(path, name, joined(name), schema),
      counters: async (name) => this.#countersOf(path, name, joined(name)),
      log() {
        throw new HookFault(
          'a log asks the functions of its module about rows that lie on the disk, which cannot wait for a worker: ' +
            'give the module "isolation": "inproc", or use a collection',
        )
      },
      namespace: (name) => {
        joined(name)
        return this.at([...path, name])
      },
      flush: async () => void (await this.#send({ flush: path })),
    }
  }

  /** What the other side tells of a part; resolves with the answer to it. */
  async hear(news: PartNews): Promise<unknown> {
    for (const [part, collection] of this.#collections.values())
      if (part === news.part) return collection.hear(news)
    return undefined
  }

  #collection<T>(
    path: readonly string[],
    name: string,
    joined: string,
    options: CollectionOptions<T>,
  ): GuestCollection<T> {
    const known = this.#collections.get(joined) as [number, GuestCollection<T>] | undefined
    const part = known?.[0] ?? this.#next()
    const collection = known?.[1] ?? new GuestCollection(options, this.#asking(part), this.#failed)
    if (known) collection.reshape(options)
    this.#collections.set(joined, [part, collection as unknown as GuestCollection<unknown>])
    const indexes = Object.keys(options.indexes ?? {})
    this.#open({ part, kind: 'collection', path, name, version: options.version, indexes })
    return collection
  }

  #sequence<T>(
    path: readonly string[],
    name: string,
    joined: string,
    schema: z.ZodType<T>,
  ): GuestSequence<T> {
    const known = this.#sequences.get(joined) as [number, GuestSequence<T>] | undefined
    if (known) {
      known[1].reshape(schema)
      return known[1]
    }
    const part = this.#next()
    const sequence = new GuestSequence(schema, this.#asking(part))
    this.#sequences.set(joined, [part, sequence as unknown as GuestSequence<unknown>])
    this.#open({ part, kind: 'sequence', path, name })
    return sequence
  }

  #countersOf(path: readonly string[], name: string, joined: string): Promise<Counters> {
    const known = this.#counters.get(joined)
    if (known) return known
    const part = this.#next()
    this.#open({ part, kind: 'counters', path, name })
    const loaded = GuestCounters.load(joined, this.#asking(part), this.#failed)
    this.#counters.set(joined, loaded)
    loaded.catch(() => this.#counters.delete(joined))
    return loaded
  }

  #next(): number {
    this.#count += 1
    return this.#count
  }

  #asking(part: number): Ask {
    return (method, ...args) => this.#send({ call: { part, method, args } })
  }

  /** What is wrong with it, its first use tells. */
  #open(open: OpenPart): void {
    this.#send({ open }).catch(() => {})
  }
}
