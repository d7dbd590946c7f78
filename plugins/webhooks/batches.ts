import { setImmediate as breathe } from 'node:timers/promises'
import { detach } from '#kit'

interface Waiting<T, R> {
  readonly item: T
  readonly done: PromiseWithResolvers<R>
}

/** So few are written in one turn of the event loop that calls wait for a few milliseconds at most. */
const most = 8

/**
 * Writes what comes while a batch is being written as the next batch, in its order. Many at once share transactions, and other
 * work has its turn in between.
 */
export class Batches<T, R> {
  readonly #write: (items: readonly T[]) => Promise<readonly R[]>
  #waiting: Waiting<T, R>[] = []
  #isWriting = false

  /** `write` returns a result for each item. What it throws is thrown for each of its items. */
  constructor(write: (items: readonly T[]) => Promise<readonly R[]>) {
    this.#write = write
  }

  add(item: T): Promise<R> {
    const done = Promise.withResolvers<R>()
    this.#waiting.push({ item, done })
    if (!this.#isWriting) detach('a batch of rows', this.#run())
    return done.promise
  }

  async #run(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, most)
      try {
        const results = await this.#write(batch.map(({ item }) => item))
        for (const [at, { done }] of batch.entries()) done.resolve(results[at]!)
      } catch (error) {
        for (const { done } of batch) done.reject(error)
      }
      if (this.#waiting.length > 0) await breathe()
    }
    this.#isWriting = false
  }
}
