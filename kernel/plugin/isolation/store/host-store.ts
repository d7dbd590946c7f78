import type { Store } from '../../../../storage/index.ts'
import { HookFault } from '../../../chain/hook-fault.ts'
import { HostCollection } from './host-collection.ts'
import { HostCounters } from './host-counters.ts'
import { HostSequence } from './host-sequence.ts'
import type { OpenPart, PartCall, PartNews } from './messages.ts'

type Part = HostCollection | HostSequence | HostCounters

/** The parts of the store that a module in a worker has open. */
export class HostStore {
  readonly #store: () => Store
  readonly #tell: (news: PartNews) => Promise<unknown>
  readonly #parts = new Map<number, Part>()

  /** `store` throws when the module may not use it; `tell` resolves with what the worker says to news. */
  constructor(store: () => Store, tell: (news: PartNews) => Promise<unknown>) {
    this.#store = store
    this.#tell = tell
  }

  open(open: OpenPart): void {
    const store = this.#at(open.path)
    const known = this.#parts.get(open.part)
    if (known) known.open(store, open)
    else this.#parts.set(open.part, this.#opened(store, open))
  }

  /** Does something with a part; resolves with what comes of it. */
  async call({ part, method, args }: PartCall): Promise<unknown> {
    const opened = this.#parts.get(part)
    // What a worker may ask for is a property of the part's own; what else it can do is on its prototype.
    if (!opened || !Object.hasOwn(opened, method)) throw new HookFault(`the store has no ${method} here`)
    const run = opened[method as keyof Part] as (...given: readonly unknown[]) => unknown
    return run(...args)
  }

  flush(path: readonly string[]): Promise<void> {
    return this.#at(path).flush()
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
    if (open.kind === 'collection') return new HostCollection(store, open, this.#tell)
    return open.kind === 'sequence' ? new HostSequence(store, open) : new HostCounters(store, open)
  }
}
