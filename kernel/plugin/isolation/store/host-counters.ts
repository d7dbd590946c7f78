import type { Counters, Store } from '../../../../storage/index.ts'
import type { OpenPart } from './messages.ts'

/** Counters of a module in a worker, which keeps a copy of their values. */
export class HostCounters {
  readonly #counters: Promise<Counters>

  constructor(store: Store, { name }: OpenPart) {
    this.#counters = store.counters(name)
    this.#counters.catch(() => {})
  }

  open(): void {}

  load = async () => (await this.#counters).entries()
  add = async (name: string, amount: number) => (await this.#counters).add(name, amount)
  set = async (name: string, value: number) => (await this.#counters).set(name, value)
  clear = async (prefix: string) => (await this.#counters).clear(prefix)
  flush = async () => (await this.#counters).flush()

  async close(): Promise<void> {}
}
