import { z } from 'zod'
import { type Cap, type Collection, capActions, type Store } from '#kernel'
import { followRows, nanoOf, timezoneSchema } from '#kit'

/** Dollars that a cap may have at the most. */
export const mostCapUsd = 1_000_000

const usd = z.number().min(0).max(mostCapUsd).nullable()

/** The settings of a user's caps. */
export const userCapFields = {
  daily_cap: usd.meta({ description: 'USD a day; null for no cap.' }),
  monthly_cap: usd.meta({ description: 'USD a month; null for no cap.' }),
  soft_cap: usd.meta({
    description: 'USD a month that is only warned of, and refuses nothing; null for none.',
  }),
  action: z.enum(capActions).meta({
    description:
      'What follows when the daily or monthly cap is reached: calls are refused, pass, or go to a cheaper model.',
  }),
  downgrade_model: z.string().min(1).max(256).nullable().meta({
    description: 'The model that calls go to with the action `downgrade`; else `tierdrop` finds one.',
  }),
  notify_at_pct: z
    .array(z.number().gt(0).max(1000))
    .max(20)
    .meta({ description: 'Percentages of a cap at which `cost.threshold` is sent.' }),
  timezone: timezoneSchema.meta({ description: 'Where days and months begin.' }),
  carry_over: z.boolean().meta({ description: 'Whether what a period has left is added to the next one.' }),
  own_keys: z.boolean().meta({ description: "Whether calls with the user's own provider keys count." }),
}

const stored = z.object({ ...userCapFields, carries_since: z.number().nullable() })
type Stored = z.infer<typeof stored>

export type UserCap = Omit<Stored, 'carries_since'>
type Change = { readonly [K in keyof UserCap]?: UserCap[K] | undefined }

/** Absent fields stay as they are. */
export const userCapChange = z.strictObject(userCapFields).partial()

const usual: Stored = {
  daily_cap: null,
  monthly_cap: null,
  soft_cap: null,
  action: 'block',
  downgrade_model: null,
  notify_at_pct: [50, 80, 100],
  timezone: 'UTC',
  carry_over: false,
  own_keys: true,
  carries_since: null,
}

/** The caps of users. They are answered from memory, so that no call waits for the store. */
export class UserCaps {
  readonly #rows: Collection<Stored>
  readonly #caps = new Map<string, readonly Cap[]>()

  constructor(store: Store) {
    this.#rows = store.collection('caps', { schema: stored })
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.#rows, (id, row) => this.#take(id, row))
  }

  /** Whether there are caps of any user. */
  get any(): boolean {
    return this.#caps.size > 0
  }

  of(userId: string): readonly Cap[] {
    return this.#caps.get(userId) ?? none
  }

  async get(userId: string): Promise<UserCap> {
    return (await this.#rows.get(userId)) ?? usual
  }

  /** When it resolves, the next call of the user is under the new caps. */
  async change(userId: string, change: Change): Promise<UserCap> {
    const row = await this.#rows.update(userId, (before = usual) => {
      const next = { ...before, ...(change as Partial<UserCap>) }
      const since = next.carry_over ? (before.carries_since ?? Date.now()) : null
      return { ...next, carries_since: since }
    })
    this.#take(userId, row)
    return row!
  }

  async delete(userId: string): Promise<boolean> {
    const deleted = await this.#rows.delete(userId)
    this.#take(userId, undefined)
    return deleted
  }

  #take(userId: string, row: Stored | undefined): void {
    const caps = row ? capsOf(userId, row) : none
    if (caps.length > 0) this.#caps.set(userId, caps)
    else this.#caps.delete(userId)
  }
}

const none: readonly Cap[] = []

function capsOf(userId: string, row: Stored): Cap[] {
  const { daily_cap, monthly_cap, soft_cap, downgrade_model, carries_since } = row
  const shared = {
    scope: 'user',
    holder: userId,
    timezone: row.timezone,
    action: row.action,
    notifyAt: row.notify_at_pct,
    ownKeys: row.own_keys,
    ...(downgrade_model !== null && { downgradeModel: downgrade_model }),
    ...(carries_since !== null && { carriesSince: carries_since }),
  } as const
  const caps: Cap[] = []
  if (daily_cap !== null) caps.push({ ...shared, period: 'daily', mostNano: nanoOf(daily_cap) })
  if (monthly_cap !== null) caps.push({ ...shared, period: 'monthly', mostNano: nanoOf(monthly_cap) })
  if (soft_cap !== null) caps.push({ ...softOf(shared), mostNano: nanoOf(soft_cap) })
  return caps
}

/** A cap that only tells. */
const softOf = ({ scope, holder, timezone, ownKeys }: Omit<Cap, 'period' | 'mostNano'>) =>
  ({ scope, holder, timezone, ownKeys, period: 'monthly', action: 'warn', notifyAt: [100] }) as const
