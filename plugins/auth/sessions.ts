import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import {
  type Context,
  newId,
  type Page,
  type PageOptions,
  type Principal,
  type Session,
  secretToken,
} from '#kernel'

const record = z.object({
  id: z.string(),
  /** SHA-256 of the secret; the secret itself is kept nowhere. */
  hash: z.string(),
  key_id: z.string(),
  /** The digest of the key that began it, readable with the secret only: that of the configured key lies nowhere else. */
  sealed_key: z.string(),
  user_id: z.string().optional(),
  ip: z.string(),
  user_agent: z.string().optional(),
  created_at: z.string(),
  expires_at: z.string(),
})
export type SessionRecord = z.infer<typeof record>

interface SessionOptions {
  /** How long one lasts, in hours. */
  readonly hours: number
  /** How many one holder has at a time; of more the oldest go. */
  readonly most: number
}

/** The data that begin a session. */
interface Beginning {
  readonly principal: Principal
  /** The digest of the key. */
  readonly key: string
  /** When the key ends, if it does: an ISO 8601 time. */
  readonly keyEnds: string | undefined
  readonly ip: string
  readonly userAgent: string | undefined
}

/** The owner that sessions are counted by: a user, or one of the operator's keys. */
export const holderOf = ({ userId, keyId }: Pick<Principal, 'userId' | 'keyId'>): string => userId ?? keyId

/** Sessions of browsers, stored as hashes of their secrets. */
export class BrowserSessions {
  readonly #rows
  readonly #options: SessionOptions

  constructor({ store }: Context<unknown>, options: SessionOptions) {
    this.#options = options
    this.#rows = store.collection('sessions', {
      schema: record,
      indexes: {
        hash: ({ hash }) => hash,
        holder: (row) => holderOf({ userId: row.user_id, keyId: row.key_id }),
        key: ({ key_id }) => key_id,
        expires: ({ expires_at }) => expires_at,
      },
    })
  }

  /** A new session with its secret of 256 random bits, which the gateway does not keep. */
  async begin({
    principal,
    key,
    keyEnds,
    ip,
    userAgent,
  }: Beginning): Promise<{ row: SessionRecord; secret: string }> {
    const secret = secretToken()
    const now = Date.now()
    const end = new Date(now + this.#options.hours * 3_600_000).toISOString()
    const row: SessionRecord = {
      id: newId('ses_'),
      hash: digestOf(secret),
      key_id: principal.keyId,
      sealed_key: sealed(key, secret),
      ...(principal.userId !== undefined && { user_id: principal.userId }),
      ip,
      ...(userAgent !== undefined && { user_agent: userAgent.slice(0, 200) }),
      created_at: new Date(now).toISOString(),
      expires_at: keyEnds !== undefined && keyEnds < end ? keyEnds : end,
    }
    await this.#rows.create(row.id, row)
    await this.#endOldest(holderOf(principal))
    return { row, secret }
  }

  /** The session with this secret, unless it is over. */
  async find(secret: string): Promise<Session | undefined> {
    if (!/^[0-9A-Za-z]{43}$/.test(secret)) return undefined
    const hash = digestOf(secret)
    const [row] = (await this.#rows.list({ index: 'hash', equals: hash, limit: 1 })).items
    if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
    return Date.parse(row.expires_at) > Date.now()
      ? { id: row.id, key: sealed(row.sealed_key, secret) }
      : undefined
  }

  get(id: string): Promise<SessionRecord | undefined> {
    return this.#rows.get(id)
  }

  /** The sessions of a holder, or of all, the oldest first. */
  list(holder: string | undefined, page: PageOptions): Promise<Page<SessionRecord>> {
    return this.#rows.list(holder === undefined ? page : { index: 'holder', equals: holder, ...page })
  }

  /** True when there was such a session. */
  end(id: string): Promise<boolean> {
    return this.#rows.delete(id)
  }

  count(holder: string): Promise<number> {
    return this.#rows.count({ index: 'holder', equals: holder })
  }

  /** Ends all sessions of a holder, or of a key; returns how many they were. */
  async endAll(index: 'holder' | 'key', equals: string): Promise<number> {
    const ids = await this.#idsOf(index, equals)
    for (const id of ids) await this.#rows.delete(id)
    return ids.length
  }

  /** Deletes those whose time is over. */
  async prune(): Promise<void> {
    const now = new Date().toISOString()
    for await (const [id] of this.#rows.scan({ index: 'expires', from: '', to: now }))
      await this.#rows.delete(id)
  }

  async #endOldest(holder: string): Promise<void> {
    const ids = await this.#idsOf('holder', holder)
    for (const id of ids.slice(0, -this.#options.most)) await this.#rows.delete(id)
  }

  async #idsOf(index: 'holder' | 'key', equals: string): Promise<string[]> {
    const ids: string[] = []
    for await (const [id] of this.#rows.scan({ index, equals })) ids.push(id)
    return ids
  }
}

/** A digest under a mask that is used for it alone; what is sealed twice is as before. */
function sealed(digest: string, secret: string): string {
  const mask = createHash('sha256').update(`key ${secret}`).digest()
  const bytes = Buffer.from(digest, 'base64url').map((byte, i) => byte ^ mask[i]!)
  return Buffer.from(bytes).toString('base64url')
}

const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
