import type { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  forbidden,
  notFound,
  type Page,
  type PageOptions,
  type Principal,
} from '#kernel'
import { scopeOf, type visibilities } from '#kit'

/** A thing with an id that a user or the admins own. */
export interface Thing {
  readonly id: string
  /** Absent for one of the admins. */
  readonly user_id?: string | undefined
  /** The user whose words it has where that is not its owner. */
  readonly source_user_id?: string | undefined
  readonly visibility: (typeof visibilities)[number]
  readonly created_at: string
}

/** Stand in the index in place of a user. No user has such an id. */
const everybody = '*'
const admins = 'admins'
const forAll = 'shared'

/** Things of one kind in the store: users see and change their own and see those that are shared, admins all. */
export class Things<T extends Thing> {
  readonly rows: Collection<T>
  readonly #name: string
  readonly #most: number

  /** `name` is what one of them is called; `most` how many one owner may have. */
  constructor(
    { store }: Pick<Context<unknown>, 'store'>,
    { plural, name, most, schema }: { plural: string; name: string; most: number; schema: z.ZodType<T> },
  ) {
    this.#name = name
    this.#most = most
    this.rows = store.collection(plural, {
      schema,
      indexes: {
        listed: ({ user_id, visibility, created_at }) =>
          [everybody, user_id ?? admins, ...(visibility === 'shared' ? [forAll] : [])].map((who) => [
            who,
            created_at,
          ]),
        user: ({ user_id, source_user_id }) => [...new Set([user_id, source_user_id])],
      },
    })
  }

  /** Throws where the caller may see none of this id. */
  async find(id: string, caller: Principal | undefined): Promise<T> {
    const user = scopeOf(caller)
    const row = await this.rows.get(id)
    if (row && (user === undefined || row.user_id === user || row.visibility === 'shared')) return row
    throw notFound(`There is no ${this.#name} ${id}.`, { param: 'id' })
  }

  /** The same; throws where the caller may not change it. */
  async findOwn(id: string, caller: Principal | undefined): Promise<T> {
    const row = await this.find(id, caller)
    const user = scopeOf(caller)
    if (user === undefined || row.user_id === user) return row
    throw forbidden(`The ${this.#name} ${id} is shared, and only admins can change it.`, { param: 'id' })
  }

  /** Newest first: the caller's own, with an admin key all, or those that are shared. */
  list(caller: Principal | undefined, areShared: boolean, page: PageOptions): Promise<Page<T>> {
    const who = areShared ? forAll : (scopeOf(caller) ?? everybody)
    return this.rows.list({ ...page, index: 'listed', equals: [who], reverse: true })
  }

  count(caller: Principal | undefined): Promise<number> {
    return this.rows.count({ index: 'listed', equals: [scopeOf(caller) ?? everybody] })
  }

  /** Throws a conflict where an owner has as many as it may. */
  async checkRoom({ user_id }: Pick<Thing, 'user_id'>): Promise<void> {
    const count = await this.rows.count({ index: 'listed', equals: [user_id ?? admins] })
    if (count >= this.#most)
      throw conflict(`An owner has ${this.#most} ${this.#name}s at the most. Delete one first.`)
  }
}

/** The owner of what a caller makes. */
export function ownerOf(caller: Principal): { user_id?: string; tenant?: string } {
  const user_id = scopeOf(caller)
  const { tenant } = caller
  return { ...(user_id !== undefined && { user_id }), ...(tenant !== undefined && { tenant }) }
}
