import { z } from 'zod'
import type { Sequence, Store } from '../index.ts'
import { Cursors } from './cursors.ts'
import type { OpenPart } from './messages.ts'

class Stale extends Error {}

/** A sequence of another thread, where its entries are made and checked. */
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

  /** Appends entries that were made for these places; false, and none of them, when another has taken the first. */
  append = async (seq: number, entries: readonly unknown[]): Promise<boolean> => {
    const appended = entries.map((entry, at) =>
      this.#entries.append((_, next) => {
        if (next !== seq + at) throw new Stale()
        return entry
      }),
    )
    try {
      await Promise.all(appended)
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

  /** For the side that has the store. */
  get entries(): Sequence<unknown> {
    return this.#entries
  }

  close(): Promise<void> {
    return this.#cursors.closeAll()
  }
}
