import type { Collection } from '#kernel'
import type { CampaignRow } from '../campaigns/rows.ts'

/** Clients that wait for a hunt to end. */
export class Waits {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #rows: Collection<CampaignRow>
  readonly close: () => void

  constructor(rows: Collection<CampaignRow>) {
    this.#rows = rows
    this.close = rows.watch(({ id, row }) => {
      if (row?.status !== 'hunting') for (const tell of this.#waiting.get(id) ?? []) tell()
    })
  }

  /** Resolves when no hunt of the campaign goes on, after so many milliseconds, or when the signal aborts. */
  async until(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<void>()
    const tellers = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, tellers.add(ended.resolve))
    const time = setTimeout(ended.resolve, ms)
    signal.addEventListener('abort', () => ended.resolve(), { once: true })
    try {
      if ((await this.#rows.get(id))?.status === 'hunting' && !signal.aborted) await ended.promise
    } finally {
      clearTimeout(time)
      tellers.delete(ended.resolve)
      if (tellers.size === 0) this.#waiting.delete(id)
    }
  }
}
