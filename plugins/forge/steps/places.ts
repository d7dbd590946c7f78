/** So many places, for as many calls and requests at a time. Who waits longest comes first. */
export class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Does something as soon as there is a place for it. Rejects where the signal has aborted by then. */
  async use<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free -= 1
    try {
      signal.throwIfAborted()
      return await run()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
