import { z } from 'zod'
import type { Collection, Store } from '#kernel'

const silenceRow = z.strictObject({
  /** Milliseconds since the epoch. */
  until: z.int(),
  by: z.string(),
})

/** Until when rules tell nobody that they fire. Lives in the first thread. */
export class Silences {
  readonly #rows: Collection<z.infer<typeof silenceRow>>
  readonly #until = new Map<string, number>()

  constructor(store: Store) {
    this.#rows = store.collection('silences', { schema: silenceRow })
  }

  async load(): Promise<void> {
    for await (const [id, { until }] of this.#rows.scan()) this.#until.set(id, until)
  }

  /** In milliseconds since the epoch; undefined for a rule that is not silenced. */
  until(alert: string, now: number): number | undefined {
    const until = this.#until.get(alert)
    return until !== undefined && until > now ? until : undefined
  }

  holds(alert: string, now: number): boolean {
    return this.until(alert, now) !== undefined
  }

  async set(alert: string, until: number, by: string): Promise<void> {
    await this.#rows.put(alert, { until, by })
    this.#until.set(alert, until)
  }

  async end(alert: string): Promise<void> {
    await this.#rows.delete(alert)
    this.#until.delete(alert)
  }

  /** Forgets silences that are over. */
  async prune(now: number): Promise<void> {
    for (const [alert, until] of this.#until) if (until <= now) await this.end(alert)
  }
}
