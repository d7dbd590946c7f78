import { z } from 'zod'
import { type Collection, type Context, conflict, kernelServices } from '#kernel'

const lastRun = z.object({
  at: z.string(),
  duration_ms: z.number(),
  action_count: z.int(),
  applied_count: z.int(),
  grade: z.string().nullable(),
})
export type LastRun = z.infer<typeof lastRun>

const row = z.object({ running_since: z.int().optional(), last: lastRun.optional() })
type Row = z.infer<typeof row>

const key = 'turn'

/** Lets one run at a time, over all threads; one that a kill cut off holds up none after a restart. */
export class Turn {
  readonly #rows: Collection<Row>
  readonly #startedAt: () => number

  constructor({ store, use }: Pick<Context<unknown>, 'store' | 'use'>) {
    this.#rows = store.collection('turn', { schema: row })
    this.#startedAt = () => use(kernelServices.runtime).startedAt
  }

  async last(): Promise<LastRun | undefined> {
    return (await this.#rows.get(key))?.last
  }

  /** Throws a conflict while another one runs. */
  async take<T>(run: () => Promise<T>, told: (result: T) => LastRun): Promise<T> {
    const taken = await this.#rows.update(key, (now) =>
      (now?.running_since ?? 0) >= this.#startedAt() ? undefined : { ...now, running_since: Date.now() },
    )
    if (!taken) throw conflict('An optimization is under way. Wait for its end.')
    let last = taken.last
    try {
      const result = await run()
      last = told(result)
      return result
    } finally {
      await this.#rows.put(key, last ? { last } : {})
    }
  }
}
