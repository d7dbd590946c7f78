import { timingSafeEqual } from 'node:crypto'
import type { Collection, Page, PageOptions, Store } from '../../storage/index.ts'
import type { Principal } from '../call/call.ts'
import type { Awaitable } from '../chain/hooks.ts'
import { conflict, notFound } from '../errors.ts'
import { newId } from '../id.ts'
import { Claims } from './claims.ts'
import { hashOf, isMadeHere, Keys, newSecret } from './keys.ts'
import { cameFrom, type Known, KnownKeys, noteAddress } from './known-keys.ts'
import { type IssuedKey, type Key, type KeyOptions, keyStatus, type User, userRecord } from './records.ts'

export { type Keys, operator } from './keys.ts'
export { type IssuedKey, type Key, type KeyOwner, keyStatus, type User } from './records.ts'

interface NewUser {
  readonly email: string
  readonly name?: string | undefined
  readonly plan: string
}

/** A key's use is noted this often at the most. */
const noteEveryMs = 60_000

/** Users and their keys. Keys are found by hash, and a change to one holds for the next request. */
export class Accounts {
  readonly keys: Keys
  readonly #store: Store
  readonly #users: Collection<User>
  readonly #emails: Claims<User>
  #adopted: { readonly digest: string; readonly known: Known } | undefined
  readonly #known = new KnownKeys()
  /** Counts changes: what was read before one is not remembered after it. */
  #changes = 0

  static async open(store: Store): Promise<Accounts> {
    return new Accounts(store, await Keys.open(store))
  }

  private constructor(store: Store, keys: Keys) {
    this.keys = keys
    this.#store = store
    this.#users = store.collection('users', { schema: userRecord })
    this.#emails = new Claims(store, 'emails', this.#users)
    this.#users.watch(({ id }) => {
      this.#changes += 1
      this.#known.deleteOf(id)
    })
    keys.watch((key) => {
      this.#changes += 1
      if (key) this.#known.delete(key.hash)
      else this.#known.clear()
    })
  }

  /** The principal of a key that came on this connection from this address. Known keys are answered without a promise. */
  authenticate(
    secret: string,
    connection?: object,
    address?: string,
  ): Principal | undefined | Promise<Principal | undefined> {
    const shown = connection && this.#known.shownBefore(connection, secret)
    if (shown) return this.#accept(shown, address)
    const digest = hashOf(secret)
    const known = this.#knownBy(digest)
    if (!known) return this.#look(digest, isMadeHere(secret), address)
    if (!timingSafeEqual(known.hash, Buffer.from(digest))) return undefined
    if (connection) this.#known.show(connection, secret, known)
    return this.#accept(known, address)
  }

  /** The values that `holderOf` finds a key by; undefined for an id that no key has. */
  async digestOf(keyId: string): Promise<string | undefined> {
    if (this.#adopted?.known.principal.keyId === keyId) return this.#adopted.digest
    return (await this.keys.find(keyId))?.hash
  }

  /** The principal of the key with this digest, as long as it works. */
  holderOf(digest: string): Awaitable<Principal | undefined> {
    const known = this.#knownBy(digest)
    return known ? this.#accept(known, undefined) : this.#look(digest, false, undefined)
  }

  /**
   * Whether a key from this address cannot be a guess: it has the 256 random bits of keys made here, or it has come from this
   * address before and was valid.
   */
  isNoGuess(secret: string, address: string): boolean {
    return isMadeHere(secret) || cameFrom(this.#knownBy(hashOf(secret)), address)
  }

  #knownBy(digest: string): Known | undefined {
    return this.#adopted?.digest === digest ? this.#adopted.known : this.#known.get(digest)
  }

  async #look(
    digest: string,
    isRandom: boolean,
    address: string | undefined,
  ): Promise<Principal | undefined> {
    const changes = this.#changes
    const key = await this.keys.byHash(digest)
    if (!key || keyStatus(key) !== 'active') return undefined
    const principal = await this.#principalOf(key)
    if (!principal) return undefined
    const known: Known = {
      principal,
      hash: Buffer.from(key.hash),
      holder: key.user_id,
      expires: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
      usedAt: this.keys.lastUse(key.id),
      addresses: isRandom ? undefined : [],
      holds: changes === this.#changes,
    }
    if (!timingSafeEqual(known.hash, Buffer.from(digest))) return undefined
    if (known.holds) this.#known.set(digest, known)
    return this.#accept(known, address)
  }

  /** The principal of a key, for calls in its name; undefined if the key no longer works. */
  async principalOf(keyId: string): Promise<Principal | undefined> {
    const adopted = this.#adopted?.known.principal
    if (adopted?.keyId === keyId) return adopted
    const key = await this.keys.find(keyId)
    return key && keyStatus(key) === 'active' ? this.#principalOf(key) : undefined
  }

  async #principalOf({ id, type, user_id }: Key): Promise<Principal | undefined> {
    const user = user_id === undefined ? undefined : await this.#users.get(user_id)
    if (user_id !== undefined && !user) return undefined
    const self = type === 'user' ? user : undefined
    return { type, keyId: id, userId: self?.id, plan: self?.plan ?? adminPlan, tenant: undefined }
  }

  #accept(known: Known, address: string | undefined): Principal | undefined {
    const now = Date.now()
    if (now >= known.expires) return undefined
    if (known.addresses && address !== undefined) noteAddress(known.addresses, address)
    if (now - known.usedAt >= noteEveryMs) {
      known.usedAt = now
      this.keys.use(known.principal.keyId, now)
    }
    return known.principal
  }

  /** Accepts a key of the configuration as an admin's, as long as this process runs. Its use is not noted. */
  adopt(secret: string): void {
    const digest = hashOf(secret)
    const known: Known = {
      principal: {
        type: 'admin',
        keyId: 'key_configured',
        userId: undefined,
        plan: adminPlan,
        tenant: undefined,
      },
      hash: Buffer.from(digest),
      holder: undefined,
      expires: Number.POSITIVE_INFINITY,
      usedAt: Number.POSITIVE_INFINITY,
      addresses: isMadeHere(secret) ? undefined : [],
      holds: true,
    }
    if (this.#adopted) this.#adopted.known.holds = false
    this.#adopted = { digest, known }
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

const adminPlan = 'team'

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
