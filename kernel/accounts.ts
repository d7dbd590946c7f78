import { hash, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Collection, Page, Store } from '../storage/index.ts'
import type { Principal } from './call.ts'
import { conflict, notFound } from './errors.ts'
import { newId, secretToken } from './id.ts'

export const userRecord = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().optional(),
  plan: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type User = z.infer<typeof userRecord>

export const keyRecord = z.object({
  id: z.string(),
  /** SHA-256 of the key, base64url; the key itself is kept nowhere. */
  hash: z.string(),
  prefix: z.string(),
  last_four: z.string(),
  type: z.enum(['user', 'admin']),
  user_id: z.string().optional(),
  name: z.string().optional(),
  status: z.enum(['active', 'revoked']),
  /** After it the key is refused; also the end of a rotation's grace. */
  expires_at: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Key = z.infer<typeof keyRecord>

/** A new key with its secret, which is shown this once. */
export interface IssuedKey {
  readonly key: Key
  readonly secret: string
}

interface Known {
  readonly principal: Principal
  readonly hash: Buffer
  readonly expires: number
}

const hashOf = (secret: string): string => hash('sha256', secret, 'base64url')

/** Users and their keys. Keys are found by hash, and a change to one holds for the next request. */
export class Accounts {
  readonly #users: Collection<User>
  /** Who has which address: the id is the address, so that it can be taken once only. */
  readonly #emails: Collection<{ user_id: string }>
  readonly #keys: Collection<Key>
  #adopted: { readonly digest: string; readonly known: Known } | undefined
  readonly #known = new LRUCache<string, Known>({ max: 20_000 })

  constructor(store: Store) {
    this.#users = store.collection('users', { schema: userRecord })
    this.#emails = store.collection('emails', { schema: z.object({ user_id: z.string() }) })
    this.#keys = store.collection('keys', {
      schema: keyRecord,
      indexes: { hash: (key) => key.hash, user: (key) => key.user_id, type: (key) => key.type },
    })
    this.#users.watch(() => this.#known.clear())
    this.#keys.watch(({ row }) => (row ? this.#known.delete(row.hash) : this.#known.clear()))
  }

  /** Who holds this key. Known keys are answered without a promise. */
  authenticate(secret: string): Principal | undefined | Promise<Principal | undefined> {
    const digest = hashOf(secret)
    const known = this.#adopted?.digest === digest ? this.#adopted.known : this.#known.get(digest)
    return known ? this.#accept(known, digest) : this.#look(digest)
  }

  async #look(digest: string): Promise<Principal | undefined> {
    const { items } = await this.#keys.list({ index: 'hash', equals: digest, limit: 1 })
    const key = items[0]
    if (key?.status !== 'active') return undefined
    const user = key.user_id === undefined ? undefined : await this.#users.get(key.user_id)
    if (key.user_id !== undefined && !user) return undefined
    const known: Known = {
      principal: { type: key.type, keyId: key.id, userId: user?.id, plan: user?.plan ?? 'team' },
      hash: Buffer.from(key.hash),
      expires: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
    }
    this.#known.set(digest, known)
    return this.#accept(known, digest)
  }

  #accept(known: Known, digest: string): Principal | undefined {
    return timingSafeEqual(known.hash, Buffer.from(digest)) && Date.now() < known.expires
      ? known.principal
      : undefined
  }

  /** Accepts a key of the configuration as an admin's, as long as this process runs. */
  adopt(secret: string): void {
    const principal: Principal = { type: 'admin', keyId: 'key_configured', userId: undefined, plan: 'team' }
    this.#adopted = {
      digest: hashOf(secret),
      known: { principal, hash: Buffer.from(hashOf(secret)), expires: Infinity },
    }
  }

  /** Whether some stored admin key is active. */
  async hasAdmin(): Promise<boolean> {
    for await (const [, key] of this.#keys.scan({ index: 'type', equals: 'admin' }))
      if (key.status === 'active') return true
    return false
  }

  /** Refuses an address that has an account already. */
  async createUser(input: { email: string; name?: string | undefined; plan: string }): Promise<User> {
    const now = new Date().toISOString()
    const user: User = {
      id: newId('usr_'),
      email: input.email,
      ...(input.name === undefined ? {} : { name: input.name }),
      plan: input.plan,
      created_at: now,
      updated_at: now,
    }
    if (!(await this.#emails.create(user.email.toLowerCase(), { user_id: user.id }))) {
      throw conflict('There is an account with this email address already.', { param: 'email' })
    }
    await this.#users.put(user.id, user)
    return user
  }

  async user(id: string): Promise<User> {
    const user = await this.#users.get(id)
    if (!user) throw notFound(`There is no user ${id}.`, { param: 'id' })
    return user
  }

  users(page: { limit: number; offset: number }): Promise<Page<User>> {
    return this.#users.list(page)
  }

  async changeUser(id: string, change: Partial<Pick<User, 'plan' | 'name'>>): Promise<User> {
    await this.user(id)
    const next = await this.#users.update(id, (user) =>
      user ? { ...user, ...change, updated_at: new Date().toISOString() } : undefined,
    )
    return next!
  }

  async issueKey(
    owner: { type: Key['type']; userId?: string },
    options: { name?: string; expiresAt?: string } = {},
  ): Promise<IssuedKey> {
    const secret = `${owner.type === 'admin' ? 'sy_admin_' : 'sy_live_'}${secretToken()}`
    return { key: await this.addKey(secret, owner, options), secret }
  }

  /** Stores a key that exists already, hashed. */
  async addKey(
    secret: string,
    owner: { type: Key['type']; userId?: string },
    options: { name?: string; expiresAt?: string } = {},
  ): Promise<Key> {
    const now = new Date().toISOString()
    const key: Key = {
      id: newId('key_'),
      hash: hashOf(secret),
      prefix: secret.slice(0, 12),
      last_four: secret.slice(-4),
      type: owner.type,
      ...(owner.userId === undefined ? {} : { user_id: owner.userId }),
      ...(options.name === undefined ? {} : { name: options.name }),
      status: 'active',
      ...(options.expiresAt === undefined ? {} : { expires_at: options.expiresAt }),
      created_at: now,
      updated_at: now,
    }
    await this.#keys.put(key.id, key)
    return key
  }

  keysOf(userId: string, page: { limit: number; offset: number }): Promise<Page<Key>> {
    return this.#keys.list({ index: 'user', equals: userId, ...page })
  }

  /** A user's key; another user's is not found. */
  async keyOf(userId: string, keyId: string): Promise<Key> {
    const key = await this.#keys.get(keyId)
    if (!key || key.user_id !== userId) throw notFound(`There is no key ${keyId}.`, { param: 'keyId' })
    return key
  }

  async findKey(keyId: string): Promise<Key | undefined> {
    return this.#keys.get(keyId)
  }

  async revokeKey(userId: string, keyId: string): Promise<Key> {
    await this.keyOf(userId, keyId)
    return this.#set(keyId, { status: 'revoked' })
  }

  /** A new key for an old one, which is refused from now on, or after the grace. */
  async rotateKey(userId: string, keyId: string, graceSeconds = 0): Promise<IssuedKey> {
    const old = await this.keyOf(userId, keyId)
    if (old.status === 'revoked')
      throw conflict(`The key ${keyId} is revoked; create a new one.`, { param: 'keyId' })
    const issued = await this.issueKey(
      { type: old.type, userId },
      old.name === undefined ? {} : { name: old.name },
    )
    const end = new Date(Date.now() + graceSeconds * 1000).toISOString()
    await this.#set(keyId, graceSeconds > 0 ? { expires_at: end } : { status: 'revoked' })
    return issued
  }

  async #set(keyId: string, change: Partial<Key>): Promise<Key> {
    const next = await this.#keys.update(keyId, (key) =>
      key ? { ...key, ...change, updated_at: new Date().toISOString() } : undefined,
    )
    return next!
  }
}
