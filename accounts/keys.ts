import { conflict, notFound } from '../kit/errors.ts'
import { newId, secretToken } from '../kit/id.ts'
import type { Collection, Counters, Page, PageOptions, Store, Transaction } from '../storage/index.ts'
import { Claims } from './claims.ts'
import { hashOf, keyStatus } from './key.ts'
import { type IssuedKey, type Key, type KeyOptions, type KeyOwner, keyRecord } from './records.ts'

/** The principal of the keys that belong to no user. */
export const operator = 'operator'

/** Ended keys of a holder that are kept; of more, the oldest go. */
const endedKept = 100

/** The random part of a key. It is made before a transaction, which may run again and has to write the same row then. */
export const newSecret = () => ({ id: newId('key_'), token: secretToken() })
type NewSecret = ReturnType<typeof newSecret>

/** Keys, stored as hashes: their making, rotation and end. */
export class Keys {
  readonly #store: Store
  readonly #rows: Collection<Key>
  /** Hashes of imported keys: unlike the random ones made here, one key can be brought twice. */
  readonly #imported: Claims<Key>
  /** When each key was last used, in milliseconds since the epoch. */
  readonly #uses: Counters

  static async open(store: Store): Promise<Keys> {
    return new Keys(store, await store.counters('key_uses'))
  }

  private constructor(store: Store, uses: Counters) {
    this.#store = store
    this.#rows = store.collection('keys', {
      schema: keyRecord,
      indexes: { hash: (key) => key.hash, holder: holderOf, type: (key) => key.type },
    })
    this.#imported = new Claims(store, 'imported_keys', this.#rows)
    this.#uses = uses
  }

  /** Tells of each change to a key; the key is undefined when it was deleted. Returns what ends it. */
  watch(listener: (key: Key | undefined) => void): () => void {
    return this.#rows.watch(({ row }) => listener(row))
  }

  /** A new key of 256 random bits. */
  async issue(owner: KeyOwner, options: KeyOptions = {}): Promise<IssuedKey> {
    const made = newSecret()
    const issued = await this.#store.transaction((tx) => this.issueIn(tx, made, owner, options))
    await this.#forgetEnded(holderOf(issued.key))
    return issued
  }

  /** As `issue`, with the other changes of a transaction. */
  issueIn(transaction: Transaction, made: NewSecret, owner: KeyOwner, options: KeyOptions = {}): IssuedKey {
    const secret = `${owner.type === 'admin' ? 'sy_admin_' : 'sy_live_'}${made.token}`
    const key = keyOf(made.id, secret, owner, options)
    transaction.create(this.#rows, key.id, key)
    return { key, secret }
  }

  /** Takes in a key that exists elsewhere. Refuses one that is known here already, revoked or not. */
  async import(secret: string, owner: KeyOwner, options: KeyOptions = {}): Promise<Key> {
    const key = keyOf(newId('key_'), secret, owner, options)
    if (await this.byHash(key.hash)) throw known()
    await this.#store.transaction((transaction) => {
      if (!this.#imported.take(transaction, key.hash, key.id)) throw known()
      transaction.create(this.#rows, key.id, key)
    })
    await this.#forgetEnded(holderOf(key))
    return key
  }

  /** The keys of a user, or of the operator, oldest first. */
  of(holder: string, page: PageOptions): Promise<Page<Key>> {
    return this.#rows.list({ index: 'holder', equals: holder, ...page })
  }

  /** A holder's key; throws a not found, also for another holder's. */
  async get(holder: string, keyId: string): Promise<Key> {
    const key = await this.#rows.get(keyId)
    if (!key || holderOf(key) !== holder) throw noKey(keyId)
    return key
  }

  find(keyId: string): Promise<Key | undefined> {
    return this.#rows.get(keyId)
  }

  async byHash(digest: string): Promise<Key | undefined> {
    const { items } = await this.#rows.list({ index: 'hash', equals: digest, limit: 1 })
    return items[0]
  }

  /** How many of a holder's keys work: those that are current, and those that were replaced and have a grace. */
  async working(holder: string): Promise<{ current: number; replaced: number }> {
    const working = { current: 0, replaced: 0 }
    for (const key of await this.allOf(holder))
      if (keyStatus(key) === 'active') working[isCurrent(key) ? 'current' : 'replaced'] += 1
    return working
  }

  /** Whether some admin key works. */
  async hasAdmin(): Promise<boolean> {
    return (await this.#all('type', 'admin')).some((key) => keyStatus(key) === 'active')
  }

  async revoke(holder: string, keyId: string): Promise<Key> {
    await this.get(holder, keyId)
    const revoked = await this.#rows.update(
      keyId,
      (key) => key && { ...key, status: 'revoked', updated_at: now() },
    )
    return revoked!
  }

  /**
   * A new key with the name and the expiry of an old one, which is refused from now on, or after the grace. Of
   * rotations at the same time one succeeds.
   */
  async rotate(holder: string, keyId: string, graceSeconds = 0): Promise<IssuedKey> {
    const made = newSecret()
    const issued = await this.#store.transaction((transaction) => {
      const old = transaction.get(this.#rows, keyId)
      if (!old || holderOf(old) !== holder) throw noKey(keyId)
      refuseUnlessCurrent(old)
      const { type, user_id: userId, name, expires_at: expiresAt } = old
      const issued = this.issueIn(transaction, made, { type, userId }, { name, expiresAt })
      transaction.put(this.#rows, keyId, replaced(old, issued.key.id, graceSeconds))
      return issued
    })
    await this.#forgetEnded(holder)
    return issued
  }

  /** All keys that a holder has or had, oldest first. */
  allOf(holder: string): Promise<Key[]> {
    return this.#all('holder', holder)
  }

  /** Deletes keys, and what `also` deletes, in one transaction. */
  async delete<R>(keys: readonly Key[], also?: (transaction: Transaction) => R): Promise<R | undefined> {
    const result = await this.#store.transaction((transaction) => {
      for (const { id, hash } of keys) {
        transaction.delete(this.#rows, id)
        this.#imported.release(transaction, hash, id)
      }
      return also?.(transaction)
    })
    for (const { id } of keys) this.#uses.delete(id)
    return result
  }

  async #forgetEnded(holder: string): Promise<void> {
    const ended = (await this.allOf(holder)).filter((key) => keyStatus(key) !== 'active')
    if (ended.length > endedKept) await this.delete(ended.slice(0, -endedKept))
  }

  async #all(index: 'holder' | 'type', equals: string): Promise<Key[]> {
    const all: Key[] = []
    for await (const [, key] of this.#rows.scan({ index, equals })) all.push(key)
    return all
  }

  /** Notes that a key was used; in memory at once, on disk soon after. */
  use(keyId: string, at: number): void {
    this.#uses.set(keyId, at)
  }

  /** When a key was last used, in milliseconds since the epoch, to the minute; 0 when it never was. */
  lastUse(keyId: string): number {
    return this.#uses.get(keyId)
  }
}

const holderOf = ({ user_id }: Key): string => user_id ?? operator

const now = (): string => new Date().toISOString()

function keyOf(id: string, secret: string, owner: KeyOwner, { name, expiresAt }: KeyOptions): Key {
  const at = now()
  return {
    id,
    hash: hashOf(secret),
    prefix: secret.slice(0, 12),
    last_four: secret.slice(-4),
    type: owner.type,
    ...(owner.userId !== undefined && { user_id: owner.userId }),
    ...(name !== undefined && { name }),
    status: 'active',
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    created_at: at,
    updated_at: at,
  }
}

const noKey = (id: string) => notFound(`There is no key ${id}.`, { param: 'keyId' })

const known = () => conflict('This key exists here already; a key can be added only once.', { param: 'key' })

const isCurrent = (key: Key): boolean => keyStatus(key) === 'active' && key.replaced_by === undefined

function refuseUnlessCurrent(key: Key): void {
  if (isCurrent(key)) return
  const reason = key.replaced_by === undefined ? keyStatus(key) : `replaced by ${key.replaced_by}`
  throw conflict(`The key ${key.id} is ${reason}; it cannot be rotated.`, { param: 'keyId' })
}

function replaced(key: Key, by: string, graceSeconds: number): Key {
  const change = { replaced_by: by, updated_at: now() }
  if (graceSeconds === 0) return { ...key, ...change, status: 'revoked' }
  const end = Date.now() + graceSeconds * 1000
  const expires = key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
  return { ...key, ...change, expires_at: new Date(Math.min(expires, end)).toISOString() }
}
