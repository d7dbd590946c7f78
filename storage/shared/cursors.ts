import type { Batch } from './messages.ts'

/** Rows that cross together. */
const most = 100

/** Listings that are read on, batch by batch, each by its number. */
export class Cursors {
  readonly #open = new Map<number, AsyncIterator<unknown>>()
  #count = 0

  open(items: AsyncIterable<unknown>): Promise<Batch> {
    this.#count += 1
    this.#open.set(this.#count, items[Symbol.asyncIterator]())
    return this.more(this.#count)
  }

  /** The next rows; at the end, or when one cannot be had, the listing is closed. */
  async more(cursor: number): Promise<Batch> {
    const iterator = this.#open.get(cursor)
    const items: unknown[] = []
    try {
      while (iterator && items.length < most) {
        const step = await iterator.next()
        if (step.done) {
          this.#open.delete(cursor)
          return { cursor, items, isOver: true }
        }
        items.push(step.value)
      }
    } catch (error) {
      this.#open.delete(cursor)
      throw error
    }
    return { cursor, items, isOver: iterator === undefined }
  }

  async close(cursor: number): Promise<void> {
    const iterator = this.#open.get(cursor)
    this.#open.delete(cursor)
    await iterator?.return?.()
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((cursor) => this.close(cursor)))
  }
}
