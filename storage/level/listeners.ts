import type { Change, StoreProblem } from '../index.ts'

/** The listeners of one collection. One that throws is reported, and the others are still called. */
export class Listeners<T> {
  readonly #listeners = new Set<(change: Change<T>) => void>()
  readonly #part: string
  readonly #report: (problem: StoreProblem) => void

  constructor(part: string, report: (problem: StoreProblem) => void) {
    this.#part = part
    this.#report = report
  }

  /** The function that is returned takes the listener out again. */
  add(listener: (change: Change<T>) => void): () => void {
    const own = (change: Change<T>) => listener(change)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  announce(change: Change<T>): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change)
      } catch {
        const message = 'A listener of this collection threw. The write itself is done.'
        this.#report({ code: 'LISTENER_FAILED', part: this.#part, id: change.id, message })
      }
    }
  }
}
