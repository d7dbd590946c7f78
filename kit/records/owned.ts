import { z } from 'zod'
import type { Principal } from '../../kernel/call/call.ts'
import type { Collection } from '../../storage/index.ts'
import { forbidden, notFound } from '../errors.ts'
import { forbidOthers } from '../http/viewer.ts'
import { followRows } from './follow-rows.ts'

export const visibilities = ['private', 'shared'] as const

/** A thing that a user or the admins own. Its slug is unique among those of its owner. */
export interface Owned {
  readonly id: string
  readonly slug: string
  /** The user that owns it; absent for one of the admins. */
  readonly user_id?: string | undefined
  readonly visibility: (typeof visibilities)[number]
}

/** The visibility of a thing, as clients give it and see it. */
export const visibility = z.enum(visibilities).meta({ description: 'Only admins share, with all.' })

type Caller = Pick<Principal, 'type' | 'userId'>

/** The key of the row of an owned thing. */
export const ownedKey = ({ user_id, slug }: Pick<Owned, 'user_id' | 'slug'>): string =>
  `${user_id ?? 'admins'}/${slug}`

const isOwn = ({ user_id }: Owned, { type, userId }: Caller): boolean =>
  user_id === undefined ? type === 'admin' : user_id === userId

/** Refuses to share what belongs to a user. `things` names several of them. */
export function checkVisibility(
  visibility: Owned['visibility'],
  { user_id }: Pick<Owned, 'user_id'>,
  things: string,
): void {
  if (visibility === 'shared' && user_id !== undefined)
    throw forbidden(`Only ${things} of the admins can be shared.`, { param: 'visibility' })
}

/** Refuses a change of what the caller sees only because it is shared. */
export const onlyShared = (thing: string, param: string) =>
  forbidden(`${thing} is shared, and only admins can change it. Make one of your own.`, { param })

/** The heads of owned things in memory, and who may see and change them. A change holds at once, in every thread. */
export class OwnedRows<T extends Owned> {
  readonly #rows: Collection<T>
  readonly #thing: string
  readonly #isForAll: (row: T) => boolean
  readonly #known = new Map<string, T>()

  /** The rows lie under `ownedKey`. `thing` names one of them; `isForAll` may hold back a shared one, such as a draft. */
  constructor(
    rows: Collection<T>,
    thing: string,
    isForAll: (row: T) => boolean = ({ visibility }) => visibility === 'shared',
  ) {
    this.#rows = rows
    this.#thing = thing
    this.#isForAll = isForAll
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.#rows, (key, row) => {
      if (row) this.#known.set(key, row)
      else this.#known.delete(key)
    })
  }

  get size(): number {
    return this.#known.size
  }

  /** Those that a caller may see, newest first. */
  seenBy(caller: Caller): T[] {
    return Array.from(this.#known.values())
      .filter((row) => caller.type === 'admin' || isOwn(row, caller) || this.#isForAll(row))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  /** The one of this id, whoever may see it. */
  withId(id: string): T | undefined {
    return Array.from(this.#known.values()).find((row) => row.id === id)
  }

  /** Those of a user, or of the admins together. */
  of(user: string | undefined): T[] {
    return Array.from(this.#known.values()).filter(({ user_id }) => user_id === user)
  }

  /** What a slug means to an owner: a user's own, else a shared one; admins have theirs together. */
  named(slug: string, owner: string | undefined): T | undefined {
    const own = this.#known.get(ownedKey({ user_id: owner, slug }))
    if (own || owner === undefined) return own
    const shared = this.#known.get(ownedKey({ user_id: undefined, slug }))
    return shared && this.#isForAll(shared) ? shared : undefined
  }

  /** What a slug means to a caller, or to the user that an admin names. Throws where there is none. */
  find(slug: string, caller: Principal, user?: string): T {
    const row = this.named(slug, forbidOthers(caller, user))
    if (row) return row
    throw this.unknown(slug)
  }

  /** The same; throws where the caller may not change it. */
  findOwn(slug: string, caller: Principal, user?: string): T {
    const row = this.find(slug, caller, user)
    if (caller.type === 'admin' || isOwn(row, caller)) return row
    throw onlyShared(`The ${this.#thing} ${slug}`, 'slug')
  }

  unknown(slug: string) {
    return notFound(`There is no ${this.#thing} ${slug}.`, { param: 'slug' })
  }
}
