import { z } from 'zod'
import { type Collection, conflict, newId, notFound, type Page, type PageOptions, type Store } from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { planIds } from './plans.ts'

export const plan = z.enum(planIds)

const row = z.object({
  id: z.string(),
  user_id: z.string(),
  plan,
  price_usd: z.number(),
  status: z.enum(['open', 'completed', 'cancelled']),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string(),
})

export type Checkout = z.infer<typeof row>
type Ended = Exclude<Checkout['status'], 'open'>

/** What a reader sees: an open one that is too old has expired. */
export const statusOf = ({ status, expires_at }: Checkout): Checkout['status'] | 'expired' =>
  status === 'open' && Date.parse(expires_at) <= Date.now() ? 'expired' : status

/** Checkouts of a user that may be open at a time, and those of all kinds that are kept. Completed ones are kept for their time. */
const most = { open: 10, kept: 50 }

/** Sessions in which users take another plan. Somebody else sees to the payment, and says when it is done. */
export class Checkouts {
  readonly #rows: Collection<Checkout>
  readonly #hours: number
  /** Changes go one after the other, so that none comes between what another has read and its row. */
  #changing: Promise<unknown> = Promise.resolve()

  constructor(store: Store, hours: number) {
    this.#hours = hours
    this.#rows = store.collection('checkouts', {
      schema: row,
      indexes: { user: ({ user_id }) => user_id, expires: ({ expires_at }) => expires_at },
    })
  }

  /** Throws a conflict for a user who has too many open ones. */
  start(terms: Pick<Checkout, 'user_id' | 'plan' | 'price_usd'>): Promise<Checkout> {
    return this.#inTurn(() => this.#start(terms))
  }

  async #start(terms: Pick<Checkout, 'user_id' | 'plan' | 'price_usd'>): Promise<Checkout> {
    await this.#makeRoom(terms.user_id)
    const now = Date.now()
    const at = new Date(now).toISOString()
    const expires_at = new Date(now + this.#hours * 3_600_000).toISOString()
    const made: Checkout = {
      id: newId('chk_'),
      ...terms,
      status: 'open',
      created_at: at,
      updated_at: at,
      expires_at,
    }
    await this.#rows.put(made.id, made)
    return made
  }

  /** A checkout that a user may see, or any without a user; throws a not found for no such one. */
  async find(id: string, userId?: string): Promise<Checkout> {
    const found = await this.#rows.get(id)
    if (!found || (userId !== undefined && found.user_id !== userId))
      throw notFound(`There is no checkout ${id}.`, { param: 'id' })
    return found
  }

  /** Newest first, of one user or of all. */
  list(userId: string | undefined, page: PageOptions): Promise<Page<Checkout>> {
    return this.#rows.list({ ...page, reverse: true, ...(userId !== undefined && of(userId)) })
  }

  /** Ends an open one, after `effect`, which may be done again after a crash. What has ended so already stays. */
  end(id: string, status: Ended, effect: (checkout: Checkout) => Promise<unknown>): Promise<Checkout> {
    return this.#inTurn(() => this.#end(id, status, effect))
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#changing.then(change)
    this.#changing = changed.catch(() => {})
    return changed
  }

  /** Forgets the oldest cancelled and expired ones of a user who has many. */
  async #makeRoom(userId: string): Promise<void> {
    let [open, all] = [0, 0]
    const over: string[] = []
    for await (const [id, found] of this.#rows.scan(of(userId))) {
      const status = statusOf(found)
      all += 1
      if (status === 'open') open += 1
      else if (status !== 'completed') over.push(id)
    }
    if (open >= most.open)
      throw conflict(`This user has ${open} open checkouts. Complete or cancel one of them first.`)
    for (const id of over.slice(0, Math.max(0, all - most.kept + 1))) await this.#rows.delete(id)
  }

  async #end(id: string, status: Ended, effect: (checkout: Checkout) => Promise<unknown>): Promise<Checkout> {
    const found = await this.find(id)
    if (found.status === status) return found
    demandOpen(found)
    await effect(found)
    const ended = { ...found, status, updated_at: new Date().toISOString() }
    await this.#rows.put(id, ended)
    return ended
  }

  /** Forgets those that ended, or expired, this long ago. */
  async prune(days: number): Promise<void> {
    const to = new Date(Date.now() - days * 86_400_000).toISOString()
    for await (const [id] of this.#rows.scan({ index: 'expires', to })) await this.#rows.delete(id)
  }

  /** Its rows, as personal data of users. */
  get ofUsers(): KeptOfUser {
    return rowsOfUsers(this.#rows)
  }
}

const of = (userId: string) => ({ index: 'user', equals: userId })

function demandOpen(checkout: Checkout): void {
  const status = statusOf(checkout)
  if (status !== 'open') throw conflict(`This checkout is ${status}; start another one.`, { param: 'id' })
}
