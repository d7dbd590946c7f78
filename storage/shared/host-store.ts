import { StoreError } from '../errors.ts'
import type { Store } from '../index.ts'
import { HostCollection } from './host-collection.ts'
import { HostCounters } from './host-counters.ts'
import { HostLog } from './host-log.ts'
import { HostSequence } from './host-sequence.ts'
import type { OpenPart, PartAsk, PartCall } from './messages.ts'
import { Peers, type Tell } from './peers.ts'

type Part = HostCollection | HostLog | HostSequence | HostCounters

/** The parts of the store that another thread has open. */
export class HostStore {
  readonly #store: () => Store
  readonly #tell: Tell
  readonly #peers: Peers
  readonly #parts = new Map<number, Part>()

  /** `store` throws when the thread may not use it; `tell` resolves with what the thread says to news. */
  constructor(store: () => Store, tell: Tell, peers: Peers = new Peers()) {
    this.#store = store
    this.#tell = tell
    this.#peers = peers
  }

  /** Answers what the thread asks about parts. */
  async answer(ask: PartAsk): Promise<unknown> {
    if ('call' in ask) return this.#call(ask.call)
    return 'open' in ask ? this.#open(ask.open) : this.#at(ask.flush).flush()
  }

  #open(open: OpenPart): void {
    const store = this.#at(open.path)
    const known = this.#parts.get(open.part)
    if (known) known.open(store, open)
    else this.#parts.set(open.part, this.#opened(store, open))
  }

  /** Does something with a part; returns what comes of it. */
  #call({ part, method, args }: PartCall): unknown {
    const opened = this.#parts.get(part)
    // What a thread may ask for is a property of the part's own; what else it can do is on its prototype.
    if (!opened || !Object.hasOwn(opened, method))
      throw new StoreError('QUERY_INVALID', `The store has no ${method} here.`)
    const run = opened[method as keyof Part] as (...given: readonly unknown[]) => unknown
    return run(...args)
  }

  /** Gives back what is open: watches and listings. */
  clear(): void {
    const parts = [...this.#parts.values()]
    this.#parts.clear()
    for (const part of parts) part.close().catch(() => {})
  }

  #at(path: readonly string[]): Store {
    return path.reduce((store, name) => store.namespace(name), this.#store())
  }

  #opened(store: Store, open: OpenPart): Part {
    if (open.kind === 'collection') return new HostCollection(store, open, this.#tell, this.#peers)
    if (open.kind === 'log') return new HostLog(store, open, this.#tell, this.#peers)
    if (open.kind === 'sequence') return new HostSequence(store, open)
    return new HostCounters(store, open, this.#tell, this.#peers)
  }
}
