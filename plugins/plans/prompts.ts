import { z } from 'zod'
import { type Collection, type Context, type Principal, tiers, type UpgradePrompt } from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { upgradeEvents } from './upgrade-events.ts'

/** The owner of prompts that are not a user's. */
const operator = 'operator'

/** The period of prompts that are told once for good. */
export const once = 'once'

export const prompt = z.object({
  id: z.string(),
  trigger: z.string(),
  user_id: z.string().optional().meta({ description: 'Absent for the whole installation.' }),
  priority: z.enum(['high', 'medium', 'low']),
  title: z.string(),
  message: z.string(),
  cta: z.string().meta({ description: 'What to offer the reader, as a label.' }),
  cta_link: z.string().meta({ description: 'Where that is done.' }),
  target_tier: z.enum(tiers),
  details: z.record(z.string(), z.unknown()),
  created_at: z.string().meta({ format: 'date-time' }),
  expires_at: z.string().meta({ format: 'date-time' }),
})

type Row = z.infer<typeof prompt> & { dismissed: boolean }
const row: z.ZodType<Row> = prompt.extend({ dismissed: z.boolean() })

/** Reasons to take a larger plan, in the store: each is emitted once for its period, whichever thread sees it first. */
export class Prompts {
  readonly #context: Pick<Context<unknown>, 'emit' | 'store'>
  readonly #rows: Collection<Row>

  constructor(context: Pick<Context<unknown>, 'emit' | 'store'>) {
    this.#context = context
    this.#rows = context.store.collection('prompts', {
      schema: row,
      indexes: { user: ({ user_id }) => user_id ?? operator, expires: ({ expires_at }) => expires_at },
    })
  }

  async suggest(given: UpgradePrompt): Promise<boolean> {
    const event = upgradeEvents.get(given.trigger)
    if (!event) throw new TypeError(`no event is called upgrade.${given.trigger}`)
    const { trigger, userId, period, until, priority, title, message, targetTier, details } = given
    const id = `${trigger}:${userId ?? operator}:${period}`
    if (await this.#rows.get(id)) return false
    const made: Row = {
      id,
      trigger,
      ...(userId !== undefined && { user_id: userId }),
      priority,
      title,
      message,
      cta: `See the plan ${targetTier}`,
      cta_link: '/api/plans',
      target_tier: targetTier,
      details: { ...details },
      created_at: new Date().toISOString(),
      expires_at: new Date(until).toISOString(),
      dismissed: false,
    }
    const about = userId === undefined ? {} : { user_id: userId }
    return this.#context.store.transaction((tx) => {
      if (tx.get(this.#rows, id)) return false
      tx.put(this.#rows, id, made)
      const facts = { ...details, ...about, target_tier: targetTier }
      this.#context.emit(event, { title, message, details: facts }, { in: tx })
      return true
    })
  }

  /** Those that a caller sees, newest first: a user its own, an admin all. */
  async activeFor({ type, userId }: Principal, now = new Date()): Promise<Row[]> {
    const active: Row[] = []
    const range = type === 'admin' ? {} : { index: 'user', equals: userId ?? operator }
    for await (const [, found] of this.#rows.scan(range))
      if (!found.dismissed && found.expires_at > now.toISOString()) active.push(found)
    return active.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }

  /** Hides one for good; false when the caller sees none of this id. */
  async dismiss(id: string, { type, userId }: Principal): Promise<boolean> {
    const isSeen = ({ user_id }: Row): boolean => type === 'admin' || user_id === userId
    const change = (found: Row | undefined) =>
      found && isSeen(found) && !found.dismissed ? { ...found, dismissed: true } : undefined
    const before = await this.#rows.get(id)
    if (!before || change(before) === undefined) return false
    return (await this.#rows.update(id, change)) !== undefined
  }

  /** Forgets those that are over, but for those that are told once for good. */
  async prune(now = new Date()): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'expires', to: now.toISOString() }))
      if (!id.endsWith(`:${once}`)) await this.#rows.delete(id)
  }

  /** Its rows, as personal data of users. */
  get ofUsers(): KeptOfUser {
    return rowsOfUsers(this.#rows)
  }
}
