import { z } from 'zod'
import type { Sequence, Store } from '../index.ts'
import { Cursors } from './cursors.ts'
import type { OpenPart } from './messages.ts'
import { type Peers, pathOf, type Tell } from './peers.ts'

/** A sequence of another thread, where its entries are made and checked. */
export class HostSequence {
  readonly #cursors = new Cursors()
  readonly #tell: Tell
  readonly #peers: Peers
  readonly #path: string
  #store: Store
  #entries: Sequence<unknown>

  constructor(store: Store, open: OpenPart, tell: Tell, peers: Peers) {
    this.#tell = tell
    this.#peers = peers
    this.#path = pathOf(open)
    this.#store = store
    this.#entries = this.open(store, open)
  }

  open(store: Store, { name }: OpenPart): Sequence<unknown> {
    this.#store = store
    this.#entries = store.sequence(name, z.unknown())
    return this.#entries
  }

  get = (seq: number) => this.#withAll(() => this.#entries.get(seq))
  last = () => this.#withAll(() => this.#entries.last())
  scan = (from?: number, to?: number) => this.#withAll(() => this.#cursors.open(this.#entries.scan(from, to)))
  more = (cursor: number) => this.#cursors.more(cursor)
  done = (cursor: number) => this.#cursors.close(cursor)

  /** Appends entries that were made for these places; false, and none of them, when another has taken the first. */
  append = (seq: number, entries: readonly unknown[]): Promise<boolean> =>
    this.#store.transaction((transaction) => {
      const isNext = transaction.end(this.#entries).seq + 1 === seq
      if (isNext) for (const entry of entries) transaction.append(this.#entries, () => entry)
      return isNext
    })

  /** The place of the next entry, and the one before it, written or about to be. */
  peek = async (): Promise<{ seq: number; previous: unknown }> => {
    const { seq, entry } = await this.#store.transaction((transaction) => transaction.end(this.#entries))
    return { seq: seq + 1, previous: entry }
  }

  /** Does something when the entries that wait in other threads are here. */
  async #withAll<R>(operation: () => Promise<R>): Promise<R> {
    await this.#peers.tellAll({ wanted: this.#path }, this.#tell)
    return operation()
  }

  /** For the side that has the store. */
  get entries(): Sequence<unknown> {
    return this.#entries
  }

  close(): Promise<void> {
    return this.#cursors.closeAll()
  }
}
