import { hash } from 'node:crypto'
import { z } from 'zod'
import { type CapStanding, type Collection, type Context, capActions, capScopes, defineEvent } from '#kernel'
import { type KeptOfUser, rowsOfUsers, usdOf } from '#kit'

const about = {
  current_usd: z.number().meta({ description: 'Spent in this period.' }),
  period: z.enum(['daily', 'monthly']),
  cap_usd: z.number(),
  scope: z.enum(capScopes),
  scope_id: z.string().meta({ description: 'Of the user, key or tenant, or the name of the project.' }),
  timezone: z.string(),
  resets_at: z.string().meta({ format: 'date-time' }),
}

export const CostThreshold = defineEvent(
  'cost.threshold',
  z.object({ threshold_usd: z.number(), percent: z.number(), ...about }),
  {
    alias: 'cost_threshold',
    description: 'Spending reached a percentage of a cap. Sent once for each cap, percentage and period.',
  },
)

export const SpendCapExceeded = defineEvent(
  'spend.cap_exceeded',
  z.object({ action: z.enum(capActions), ...about }),
  { description: 'A cap was reached. Sent once for each cap and period, however many calls it refuses.' },
)

const row = z.strictObject({ until: z.number(), user: z.string().optional() })

/** A call that is refused so near to a threshold has reached it: what is left is less than a call. */
const nearly = 0.9

/** Of what this process remembers that it was told. */
const mostRemembered = 10_000

type Parts = Pick<Context<unknown>, 'store' | 'emit'>

/** Tells each threshold of a cap once in a period, over restarts and kills. Lives in the first thread. */
export class Told {
  readonly #rows: Collection<z.infer<typeof row>>
  readonly #store: Parts['store']
  readonly #emit: Parts['emit']
  readonly #remembered = new Set<string>()

  constructor({ store, emit }: Parts) {
    this.#rows = store.collection('told', {
      schema: row,
      indexes: { until: ({ until }) => until, user: ({ user }) => user },
    })
    this.#store = store
    this.#emit = emit
  }

  /** After a call was settled, let through or, for so many nano-dollars, refused by this cap. */
  async tell(by: string, standing: CapStanding, refusedNano?: number): Promise<void> {
    const { cap, mostNano, spentNano } = standing
    const isRefused = refusedNano !== undefined && refusedNano <= mostNano
    const isOver = (nano: number): boolean =>
      spentNano >= nano || (isRefused && spentNano + refusedNano > nano && spentNano >= nearly * nano)
    for (const percent of cap.notifyAt) {
      const threshold = Math.round((mostNano * percent) / 100)
      if (!isOver(threshold)) continue
      const data = { threshold_usd: usdOf(threshold), percent, ...aboutOf(standing) }
      await this.#once(by, standing, percent, (tx) => this.#emit(CostThreshold, data, { in: tx }))
    }
    if (isRefused || spentNano >= mostNano) {
      const data = { action: cap.action, ...aboutOf(standing) }
      await this.#once(by, standing, 'cap', (tx) => this.#emit(SpendCapExceeded, data, { in: tx }))
    }
  }

  /** Forgets what was told of periods that are over. */
  async prune(now = Date.now()): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'until', to: now })) await this.#rows.delete(id)
  }

  /** Its rows, as personal data of users. */
  get ofUsers(): KeptOfUser {
    return rowsOfUsers(this.#rows)
  }

  async #once(
    by: string,
    { cap, resetsAt }: CapStanding,
    what: number | 'cap',
    emit: (tx: Parameters<Parameters<Parts['store']['transaction']>[0]>[0]) => void,
  ): Promise<void> {
    const { scope, holder, period, timezone, mostNano, action } = cap
    // Without what a period carries over: that changes when a call of the period before ends late.
    const name = JSON.stringify([by, scope, holder, period, timezone, resetsAt, mostNano, action, what])
    if (this.#remembered.has(name)) return
    const id = hash('sha256', name, 'base64url')
    await this.#store.transaction((tx) => {
      if (tx.get(this.#rows, id)) return
      tx.put(this.#rows, id, { until: resetsAt, ...(scope === 'user' && { user: holder }) })
      emit(tx)
    })
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear()
    this.#remembered.add(name)
  }
}

const aboutOf = ({ cap, mostNano, spentNano, resetsAt }: CapStanding) => ({
  current_usd: usdOf(spentNano),
  period: cap.period,
  cap_usd: usdOf(mostNano),
  scope: cap.scope,
  scope_id: cap.holder,
  timezone: cap.timezone,
  resets_at: new Date(resetsAt).toISOString(),
})
