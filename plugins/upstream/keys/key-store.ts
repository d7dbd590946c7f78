import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  type Collection,
  type Credential,
  GatewayError,
  hintOf,
  type Log,
  type Page,
  type PageOptions,
  type Secrets,
  SecretsError,
  type Store,
} from '#kernel'
import { atMost } from '#kit'

const record = z.object({
  user_id: z.string(),
  provider: z.string(),
  /** Encrypted: `enc:` and what the secrets made of it. */
  secret: z.string(),
  status: z.enum(['unverified', 'configured', 'invalid']),
  last_verified_at: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
type Record = z.infer<typeof record>

/** Keys, and absences of keys, that are kept in memory. */
const mostKnown = 20_000

/** The part of a stored key that may be shown. */
export type ProviderKeyView = Omit<Record, 'secret' | 'user_id'>

/** The collection of keys in a part of the store. */
export const keyRows = (store: Store): Collection<Record> =>
  store.collection('provider_keys', { schema: record, indexes: { user: (row) => row.user_id } })

/** A user's own key that was encrypted with a key that is not known any more; calls do not go by another one in its place. */
export class UnreadableKey extends GatewayError {
  constructor(provider: string, cause: SecretsError) {
    const where = `/api/auth/me/providers/${provider}`
    super(
      'provider_error',
      `Your own key for ${provider} cannot be read any more: store it again with PUT ${where}, or remove it with DELETE.`,
      { cause },
    )
    this.name = 'UnreadableKey'
  }
}

/** Users' own provider keys: encrypted at rest, decrypted for the outbound call only. */
export class KeyStore {
  readonly #rows: Collection<Record>
  readonly #secrets: Secrets
  /**
   * Remembers users without a key too, since most users have none and every call asks; and reads under way, for all who ask
   * meanwhile: tokens are kept by the object that they were fetched for.
   */
  readonly #known = new LRUCache<string, Credential | 'none' | Promise<Credential | undefined>>(
    atMost(mostKnown),
  )

  constructor(store: Store, secrets: Secrets) {
    this.#rows = keyRows(store)
    this.#secrets = secrets
    this.#rows.watch(({ id }) => void this.#known.delete(id))
  }

  /** Encrypts what an earlier version or a hand left in plain text; returns how many. */
  async encryptPlain(log: Log): Promise<number> {
    let found = 0
    for await (const [id, row] of this.#rows.scan()) {
      if (this.#secrets.isEncrypted(row.secret)) continue
      await this.#rows.update(id, (now) => now && { ...now, secret: this.#secrets.encrypt(now.secret) })
      log.info({ provider: row.provider }, 'a provider key found in plain text was encrypted')
      found += 1
    }
    return found
  }

  /** The user's own key for a provider; known answers come without a promise. Rejects with an `UnreadableKey` for such a one. */
  find(userId: string, provider: string): Credential | undefined | Promise<Credential | undefined> {
    const id = idOf(userId, provider)
    const known = this.#known.get(id)
    if (known !== undefined) return known === 'none' ? undefined : known
    const loading = this.#load(id)
    this.#known.set(id, loading)
    // A key that was read before a change is not remembered after it.
    const isLatest = (): boolean => this.#known.peek(id) === loading
    loading
      .then((credential) => isLatest() && this.#known.set(id, credential ?? 'none'))
      .catch(() => isLatest() && this.#known.delete(id))
    return loading
  }

  async #load(id: string): Promise<Credential | undefined> {
    const row = await this.#rows.get(id)
    return row && this.#credential(id, row)
  }

  #credential(id: string, row: Record): Credential {
    const secret = this.#open(row)
    return { id, secret, hint: hintOf(secret), weight: 1, owner: 'user' }
  }

  #open({ provider, secret }: Record): string {
    try {
      return this.#secrets.decrypt(secret)
    } catch (error) {
      throw error instanceof SecretsError ? new UnreadableKey(provider, error) : error
    }
  }

  /** Whether the user has a key for a provider that can be read. */
  async has(userId: string, provider: string): Promise<boolean> {
    try {
      return (await this.find(userId, provider)) !== undefined
    } catch (error) {
      if (error instanceof UnreadableKey) return false
      throw error
    }
  }

  /** A user's keys, by the names of their providers. */
  async list(userId: string, page: PageOptions): Promise<Page<ProviderKeyView>> {
    const found = await this.#rows.list({ index: 'user', equals: userId, ...page })
    return { ...found, items: found.items.map((row) => this.#view(row)) }
  }

  async get(userId: string, provider: string): Promise<ProviderKeyView | undefined> {
    const row = await this.#rows.get(idOf(userId, provider))
    return row && this.#view(row)
  }

  async set(userId: string, provider: string, secret: string): Promise<ProviderKeyView> {
    const now = new Date().toISOString()
    const row = await this.#rows.update(idOf(userId, provider), (before) => ({
      user_id: userId,
      provider,
      secret: this.#secrets.encrypt(secret),
      status: 'unverified',
      created_at: before?.created_at ?? now,
      updated_at: now,
    }))
    return this.#view(row!)
  }

  /** The result of a check with this key; ignored when the key was replaced or deleted meanwhile. */
  async mark(
    userId: string,
    provider: string,
    key: Credential,
    status: 'configured' | 'invalid',
  ): Promise<void> {
    const now = new Date().toISOString()
    await this.#rows.update(idOf(userId, provider), (row) =>
      row && this.#open(row) === key.secret ? { ...row, status, last_verified_at: now } : undefined,
    )
  }

  delete(userId: string, provider: string): Promise<boolean> {
    return this.#rows.delete(idOf(userId, provider))
  }

  /** Deletes all keys of a user. */
  async deleteOf(userId: string): Promise<number> {
    let deleted = 0
    for await (const [id] of this.#rows.scan({ index: 'user', equals: userId })) {
      if (await this.#rows.delete(id)) deleted += 1
    }
    return deleted
  }

  count(userId: string): Promise<number> {
    return this.#rows.count({ index: 'user', equals: userId })
  }

  /** A key that cannot be read is invalid, whatever a check has shown of it; as before, once it can be read again. */
  #view(row: Record): ProviderKeyView {
    const { secret: _, user_id: __, ...rest } = row
    return this.#isReadable(row) ? rest : { ...rest, status: 'invalid' }
  }

  #isReadable(row: Record): boolean {
    try {
      this.#open(row)
      return true
    } catch (error) {
      if (error instanceof UnreadableKey) return false
      throw error
    }
  }
}

const idOf = (userId: string, provider: string): string => `${userId}/${provider}`
