import type { Counters, Store } from '../index.ts'
import type { CounterStep, OpenPart } from './messages.ts'
import { type Counting, type Peers, pathOf, type Tell } from './peers.ts'

/** Counters of another thread, which keeps a copy of their values. */
export class HostCounters {
  readonly #counters: Promise<Counters>
  readonly #peers: Peers
  readonly #self: Counting

  constructor(store: Store, open: OpenPart, tell: Tell, peers: Peers) {
    this.#peers = peers
    this.#self = {
      path: pathOf(open),
      tell: (counted) => void tell({ part: open.part, counted }).catch(() => {}),
    }
    this.#counters = store.counters(open.name)
    this.#counters.catch(() => {})
  }

  open(): void {}

  load = async () => {
    const counters = await this.#counters
    this.#peers.count(this.#self)
    return counters.entries()
  }

  change = async (steps: readonly CounterStep[]) => {
    const counters = await this.#counters
    for (const [kind, name, amount] of steps) {
      if (kind === 'add') counters.add(name, amount)
      else if (kind === 'set') counters.set(name, amount)
      else if (kind === 'delete') counters.delete(name)
      else counters.clear(name)
    }
    this.#peers.counted(this.#self, steps)
  }

  flush = async () => (await this.#counters).flush()

  async close(): Promise<void> {
    this.#peers.discount(this.#self)
  }
}
