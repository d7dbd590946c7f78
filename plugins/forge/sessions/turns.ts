import { rateLimited } from '#kernel'

/** Messages that may wait for those before them. */
const mostWaiting = 10

/** Does things of one name one after the other, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, number>()

  /** Whether something of that name is being done, or waits. */
  isBusy(name: string): boolean {
    return this.#last.has(name)
  }

  /** Resolves when it is one's turn, with what ends it. Throws where too many wait, and the signal's reason. */
  async take(name: string, signal: AbortSignal): Promise<() => void> {
    const waiting = this.#waiting.get(name) ?? 0
    if (waiting >= mostWaiting)
      throw rateLimited('Too many messages of this session wait for an answer.', { retryAfterS: 5 })
    const before = this.#last.get(name)
    const own = Promise.withResolvers<void>()
    this.#last.set(name, own.promise)
    this.#waiting.set(name, waiting + 1)
    const end = (): void => {
      own.resolve()
      const left = this.#waiting.get(name)! - 1
      if (left > 0) this.#waiting.set(name, left)
      else this.#waiting.delete(name)
      if (this.#last.get(name) === own.promise) this.#last.delete(name)
    }
    await before
    if (!signal.aborted) return end
    end()
    throw signal.reason
  }
}
