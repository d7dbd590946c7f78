import { StoreError } from '../errors.ts'
import type { Store } from '../index.ts'
import { HostCollection } from './host-collection.ts'
import { HostCounters } from './host-counters.ts'
import { HostLog } from './host-log.ts'
import { HostSequence } from './host-sequence.ts'
import { applied } from './host-transaction.ts'
import type { CrossingTransaction, OpenPart, PartAsk, PartCall, Refreshed } from './messages.ts'
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

  /** Does what a thread asks of its parts; resolves with what comes of it. */
  async answer(ask: PartAsk): Promise<unknown> {
    if ('call' in ask) return this.#call(ask.call)
    if ('open' in ask) return this.#open(ask.open)
    if ('transact' in ask) return this.#transact(ask.transact)
    return this.#at(ask.flush).flush()
  }

  #open(open: OpenPart): void {
    const store = this.#at(open.path)
    const known = this.#parts.get(open.part)
    if (known) known.open(store, open)
    else this.#parts.set(open.part, this.#opened(store, open))
  }

  async #call({ part, method, args }: PartCall): Promise<unknown> {
    const opened = this.#parts.get(part)
    // A thread may ask for own properties of the part; the part's other methods are on its prototype.
    if (!opened || !Object.hasOwn(opened, method))
      throw new StoreError('QUERY_INVALID', `The store has no ${method} here.`)
    const run = opened[method as keyof Part] as (...given: readonly unknown[]) => unknown
    return run(...args)
  }

  /** Makes the changes of a transaction whose function ran in the thread, unless what it read is not so any more. */
  #transact(transaction: CrossingTransaction): Promise<Refreshed | undefined> {
    return applied(this.#store(), transaction, {
      collection: (part) => this.#part(part, HostCollection),
      sequence: (part) => this.#part(part, HostSequence),
    })
  }

  /** Gives back what is open: watches and listings. */
  clear(): void {
    const parts = [...this.#parts.values()]
    this.#parts.clear()
    for (const part of parts) part.close().catch(() => {})
  }

  #part<P extends Part>(part: number, kind: abstract new (...given: never[]) => P): P {
    const opened = this.#parts.get(part)
    if (opened instanceof kind) return opened
    throw new StoreError('QUERY_INVALID', 'The store has no such part here.')
  }

  #at(path: readonly string[]): Store {
    return path.reduce((store, name) => store.namespace(name), this.#store())
  }

  #opened(store: Store, open: OpenPart): Part {
    if (open.kind === 'collection') return new HostCollection(store, open, this.#tell, this.#peers)
    if (open.kind === 'log') return new HostLog(store, open, this.#tell, this.#peers)
    if (open.kind === 'sequence') return new HostSequence(store, open, this.#tell, this.#peers)
    return new HostCounters(store, open, this.#tell, this.#peers)
  }
}
