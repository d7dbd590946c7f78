import { z } from 'zod'
import type { Sequence, Store } from '../../../../storage/index.ts'
import { Cursors } from './cursors.ts'
import type { OpenPart } from './messages.ts'

class Stale extends Error {}

/** A sequence of a module in a worker, where its entries are made and checked. */
export class HostSequence {
  readonly #cursors = new Cursors()
  #entries: Sequence<unknown>

  constructor(store: Store, open: OpenPart) {
    this.#entries = this.open(store, open)
  }

  open(store: Store, { name }: OpenPart): Sequence<unknown> {
    this.#entries = store.sequence(name, z.unknown())
    return this.#entries
  }

  get = (seq: number) => this.#entries.get(seq)
  last = () => this.#entries.last()
  scan = (from?: number, to?: number) => this.#cursors.open(this.#entries.scan(from, to))
  more = (cursor: number) => this.#cursors.more(cursor)
  done = (cursor: number) => this.#cursors.close(cursor)

  /** Appends an entry that was made for this place; false when another has taken it. */
  append = async (seq: number, entry: unknown): Promise<boolean> => {
    try {
      await this.#entries.append((_, next) => {
        if (next !== seq) throw new Stale()
        return entry
      })
      return true
    } catch (error) {
      if (error instanceof Stale) return false
      throw error
    }
  }

  /** The place of the next entry, and the one before it, written or about to be. */
  peek = async (): Promise<{ seq: number; previous: unknown }> => {
    let seen = { seq: 1, previous: undefined as unknown }
    await this.#entries
      .append((previous, seq) => {
        seen = { seq, previous }
        throw new Stale()
      })
      .catch((error) => {
        if (!(error instanceof Stale)) throw error
      })
    return seen
  }

  close(): Promise<void> {
    return this.#cursors.closeAll()
  }
}
