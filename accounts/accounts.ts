import { conflict, notFound } from '../kit/errors.ts'
import { newId } from '../kit/id.ts'
import type { Collection, Page, PageOptions, Store } from '../storage/index.ts'
import { Authentication } from './authentication.ts'
import { Claims } from './claims.ts'
import { Keys, newSecret } from './keys.ts'
import { type IssuedKey, type KeyOptions, type User, userRecord } from './records.ts'

interface NewUser {
  readonly email: string
  readonly name?: string | undefined
  readonly plan: string
}

/** Users and their keys: their making, change and end. */
export class Accounts extends Authentication {
  readonly keys: Keys
  readonly #store: Store
  readonly #users: Collection<User>
  readonly #emails: Claims<User>

  static async open(store: Store): Promise<Accounts> {
    const users = store.collection('users', { schema: userRecord })
    return new Accounts(store, await Keys.open(store), users)
  }

  private constructor(store: Store, keys: Keys, users: Collection<User>) {
    super(keys, users)
    this.keys = keys
    this.#store = store
    this.#users = users
    this.#emails = new Claims(store, 'emails', users)
  }

  /** A user and a first key: both or neither. Refuses an address that has an account, in any spelling of its letters. */
  signUp({ email, name, plan }: NewUser, firstKey: KeyOptions = {}): Promise<IssuedKey & { user: User }> {
    const at = new Date().toISOString()
    const named = name === undefined ? {} : { name }
    const user: User = { id: newId('usr_'), email, ...named, plan, created_at: at, updated_at: at }
    const made = newSecret()
    return this.#store.transaction((transaction) => {
      if (!this.#emails.take(transaction, email.toLowerCase(), user.id)) {
        throw conflict('An account with this email address already exists.', { param: 'email' })
      }
      transaction.create(this.#users, user.id, user)
      return { user, ...this.keys.issueIn(transaction, made, { type: 'user', userId: user.id }, firstKey) }
    })
  }

  async user(id: string): Promise<User> {
    const user = await this.#users.get(id)
    if (!user) throw noUser(id)
    return user
  }

  /** Users, oldest first. */
  users(page: PageOptions): Promise<Page<User>> {
    return this.#users.list(page)
  }

  /** Absent fields stay; a name of null is removed. */
  async changeUser(
    id: string,
    change: { plan?: string | undefined; name?: string | null | undefined },
  ): Promise<User> {
    const next = await this.#users.update(id, (user) => user && changed(user, change))
    if (!next) throw noUser(id)
    return next
  }

  /** Deletes a user with all keys; false when there was none. */
  async deleteUser(id: string): Promise<boolean> {
    const deleted = await this.keys.delete(await this.keys.allOf(id), (transaction) => {
      const user = transaction.get(this.#users, id)
      if (user) this.#emails.release(transaction, user.email.toLowerCase(), id)
      transaction.delete(this.#users, id)
      return user
    })
    return deleted !== undefined
  }
}

export const noUser = (id: string) => notFound(`There is no user ${id}.`, { param: 'id' })

function changed(
  user: User,
  { plan, name }: { plan?: string | undefined; name?: string | null | undefined },
): User {
  const { name: before, ...rest } = user
  const after = name === undefined ? before : (name ?? undefined)
  return {
    ...rest,
    ...(plan !== undefined && { plan }),
    ...(after !== undefined && { name: after }),
    updated_at: new Date().toISOString(),
  }
}
