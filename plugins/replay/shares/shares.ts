import type { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  newId,
  notFound,
  type Page,
  type PageOptions,
  type Principal,
  Sealing,
  type Store,
} from '#kernel'
import { type BodySeals, bodySeals, type KeptOfUser, type Seal } from '#kit'
import { admins, contentsIn, everybody, type ShareKind, type ShareRow, sharesIn } from './row.ts'
import { hashOf, newSecret } from './secret-part.ts'

const dayMs = 86_400_000

/** Shares of one user, and of all admins together. */
const most = 100

/** What is to be shared. It must be JSON, and its schema must take it back. */
export interface Draft {
  readonly kind: ShareKind
  readonly content: object
  readonly title?: string | undefined
  /** Whose call it shows, if it shows one. */
  readonly sourceUserId?: string | undefined
}

/** An open share. */
export interface Opened<T> {
  readonly row: ShareRow
  readonly title: string | null
  readonly content: T
}

/**
 * What is shared by link. A link has 256 random bits, and the store has its hash only, so that nobody who reads the store gets a link.
 * Links that are unknown, expired or revoked are told apart by nothing.
 */
export class Shares {
  readonly #store: Store
  readonly #rows: Collection<ShareRow>
  readonly #bodies: Collection<{ body: string }>
  readonly #seals: BodySeals
  readonly #days: number
  readonly ofUsers: KeptOfUser

  constructor(context: Pick<Context<unknown>, 'id' | 'find' | 'use' | 'store'>, days: number) {
    this.#store = context.store
    this.#days = days
    this.#seals = bodySeals(context, () => context.use(Sealing))
    this.#rows = sharesIn(context.store)
    this.#bodies = contentsIn(context.store)
    this.ofUsers = {
      count: (user) => this.#rows.count({ index: 'user', equals: user }),
      erase: (user) => this.#deleteAll({ index: 'user', equals: user }),
    }
  }

  /** Resolves when the share is on disk, with the secret part of its link, which is not kept. */
  async add({ userId, tenant }: Principal, draft: Draft): Promise<{ row: ShareRow; secret: string }> {
    if ((await this.#rows.count({ index: 'owner', equals: [userId ?? admins] })) >= most)
      throw conflict(`There are ${most} shares already. Delete one first.`)
    const secret = newSecret()
    const hash = hashOf(secret)
    const now = Date.now()
    const seal = (await this.#seals.sealFor({ userId, tenant })) ?? unsealed
    const { kind, content, title, sourceUserId } = draft
    const row: ShareRow = {
      id: newId('shr_'),
      hash,
      kind,
      ...(userId !== undefined && { user_id: userId }),
      ...(tenant !== undefined && { tenant }),
      ...(sourceUserId !== undefined && { source_user_id: sourceUserId }),
      ...(title !== undefined && { title: seal(JSON.stringify(title)) }),
      views: 0,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + this.#days * dayMs).toISOString(),
    }
    const body = seal(JSON.stringify(content))
    await this.#store.transaction((tx) => {
      tx.create(this.#rows, hash, row)
      tx.create(this.#bodies, hash, { body })
    })
    return { row, secret }
  }

  /** What a link leads to, and one view more. Throws the one not found for all links that lead nowhere. */
  async open<T>(kind: ShareKind, secret: string, schema: z.ZodType<T>): Promise<Opened<T>> {
    const hash = hashOf(secret)
    const row = await this.#rows.get(hash)
    if (row?.kind !== kind || isOver(row)) throw nothingThere()
    const stored = await this.#bodies.get(hash)
    const body = stored && (await this.#seals.tryOpen(stored.body))
    if (body === undefined) throw nothingThere()
    const seen = await this.#rows.update(hash, (now) => now && { ...now, views: now.views + 1 })
    return { row: seen ?? row, title: await this.titleOf(row), content: schema.parse(JSON.parse(body)) }
  }

  /** Null for none, and for one that cannot be opened any more. */
  async titleOf({ title }: ShareRow): Promise<string | null> {
    const json = title && (await this.#seals.tryOpen(title))
    return json === undefined ? null : (JSON.parse(json) as string)
  }

  /** The share of this id, or behind this link. */
  async find(kind: ShareKind, idOrSecret: string): Promise<ShareRow | undefined> {
    const row = idOrSecret.startsWith('shr_')
      ? (await this.#rows.list({ index: 'id', equals: idOrSecret, limit: 1 })).items[0]
      : await this.#rows.get(hashOf(idOrSecret))
    return row?.kind === kind && !isOver(row) ? row : undefined
  }

  /** Newest first; of one user, or of all. */
  list(user: string | undefined, page: PageOptions): Promise<Page<ShareRow>> {
    return this.#rows.list({ index: 'owner', equals: [user ?? everybody], ...page, reverse: true })
  }

  delete({ hash }: ShareRow): Promise<void> {
    return this.#store.transaction((tx) => {
      tx.delete(this.#rows, hash)
      tx.delete(this.#bodies, hash)
    })
  }

  /** Deletes shares that have expired. */
  async prune(): Promise<void> {
    await this.#deleteAll({ index: 'expires', to: new Date().toISOString() })
  }

  async #deleteAll(which: { index: string; equals?: string; to?: string }): Promise<number> {
    let deleted = 0
    for await (const [, row] of this.#rows.scan(which)) {
      await this.delete(row)
      deleted += 1
    }
    return deleted
  }
}

const unsealed: Seal = (text) => text
const isOver = ({ expires_at }: ShareRow): boolean => Date.parse(expires_at) <= Date.now()
export const nothingThere = () => notFound('There is nothing shared here, or not any more.', { param: 'id' })
