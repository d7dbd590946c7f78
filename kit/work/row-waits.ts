import type { Collection } from '../../storage/index.ts'
import { ensure } from '../ensure.ts'

/** Clients that wait for rows to get as far as they ask, such as runs to end. */
export class RowWaits<T> {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #rows: Collection<T>
  readonly #isSettled: (row: T) => boolean
  readonly close: () => void

  constructor(rows: Collection<T>, isSettled: (row: T) => boolean) {
    this.#rows = rows
    this.#isSettled = isSettled
    this.close = rows.watch(({ id, row }) => {
      if (!row || isSettled(row)) for (const tell of this.#waiting.get(id) ?? []) tell()
    })
  }

  /** Resolves when the row is settled or gone, after so many milliseconds, or when the signal aborts. */
  async until(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const settled = Promise.withResolvers<void>()
    const tellers = ensure(this.#waiting, id, () => new Set<() => void>())
    tellers.add(settled.resolve)
    const time = setTimeout(settled.resolve, ms)
    const leave = (): void => settled.resolve()
    signal.addEventListener('abort', leave, { once: true })
    try {
      const row = await this.#rows.get(id)
      if (row && !this.#isSettled(row) && !signal.aborted) await settled.promise
    } finally {
      clearTimeout(time)
      signal.removeEventListener('abort', leave)
      tellers.delete(settled.resolve)
      if (tellers.size === 0) this.#waiting.delete(id)
    }
  }
}
