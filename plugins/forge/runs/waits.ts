import type { Collection } from '#kernel'
import { isOver, type RunRow } from './rows.ts'

/** Clients that wait for a run to end, or to wait itself. */
export class Waits {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #rows: Collection<RunRow>
  readonly close: () => void

  constructor(rows: Collection<RunRow>) {
    this.#rows = rows
    this.close = rows.watch(({ id, row }) => {
      if (!row || isSettled(row)) for (const tell of this.#waiting.get(id) ?? []) tell()
    })
  }

  /** Resolves when the run does nothing by itself any more, after so many milliseconds, or when the signal aborts. */
  async until(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const settled = Promise.withResolvers<void>()
    const tellers = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, tellers.add(settled.resolve))
    const time = setTimeout(settled.resolve, ms)
    signal.addEventListener('abort', () => settled.resolve(), { once: true })
    try {
      const row = await this.#rows.get(id)
      if (row && !isSettled(row) && !signal.aborted) await settled.promise
    } finally {
      clearTimeout(time)
      tellers.delete(settled.resolve)
      if (tellers.size === 0) this.#waiting.delete(id)
    }
  }
}

export const isSettled = (row: RunRow): boolean => isOver(row) || row.status === 'waiting_human'
