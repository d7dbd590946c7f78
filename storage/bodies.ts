import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { BodyParts } from './body-parts.ts'
import type { Collection, PageOptions, Store, Transaction } from './index.ts'
import { checkId } from './names.ts'

/** The facts of a body. */
export interface BodyFacts {
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** Of all bytes, in hexadecimal. */
  readonly sha256: string
  /** ISO 8601. */
  readonly writtenAt: string
}

/** A body as it was when it was asked for. */
export interface Body extends BodyFacts {
  /**
   * Its bytes from one to another, `to` not included; one part at a time is in memory. A reader that has begun reads to the
   * end, whatever becomes of the body; a reader that begins after it was replaced or deleted gets `BODY_GONE`.
   */
  read(from?: number, to?: number): AsyncIterable<Uint8Array>
}

export interface BodiesOptions {
  /** Milliseconds of silence after which an upload counts as dead, so that its bytes are deleted; 10 minutes. */
  readonly leaseMs?: number
}

/** Bytes of any size by id, which are written and read as streams and never in memory as a whole. */
export interface Bodies {
  /**
   * Stores what `source` gives, in place of what the id had. Resolves when all of it is on disk. Until then, and when `source`
   * or `also` throws or the process dies, the id has what it had before. `also` makes other changes in the transaction in which
   * the body appears, such as a row that says whose it is. Of writers of one id at the same time the last has the last word.
   */
  write(
    id: string,
    source: AsyncIterable<Uint8Array>,
    also?: (transaction: Transaction, facts: BodyFacts) => void,
  ): Promise<BodyFacts>
  get(id: string): Promise<Body | undefined>
  /** True when there was such a body; `also` is called then, in the same transaction. */
  delete(id: string, also?: (transaction: Transaction) => void): Promise<boolean>
  /** The facts of the bodies, in the order of their ids. */
  list(page?: PageOptions): Promise<{ items: BodyFacts[]; total: number; next?: string }>
}

const defaultLeaseMs = 600_000

const headRecord = z.object({
  id: z.string(),
  /** Under which its parts lie. */
  upload: z.string(),
  size: z.number(),
  sha256: z.string(),
  writtenAt: z.string(),
})
type Head = z.infer<typeof headRecord>

/** Parts that belong to no body: of an upload under way, or of one that is dead and to be deleted. */
const looseRecord = z.object({ aliveAt: z.number() })

/** Bodies as rows of collections, so that every engine has them: a body is there when its head is. */
export class StoredBodies implements Bodies {
  readonly #store: Store
  readonly #heads: Collection<Head>
  readonly #parts: BodyParts
  readonly #loose: Collection<z.infer<typeof looseRecord>>
  readonly #leaseMs: number
  #sweptAt = 0

  /** `store` is the namespace of these bodies alone. */
  constructor(store: Store, { leaseMs = defaultLeaseMs }: BodiesOptions = {}) {
    this.#store = store
    this.#heads = store.collection('heads', { schema: headRecord })
    this.#parts = new BodyParts(store)
    this.#loose = store.collection('loose', { schema: looseRecord })
    this.#leaseMs = leaseMs
  }

  async write(
    id: string,
    source: AsyncIterable<Uint8Array>,
    also: (transaction: Transaction, facts: BodyFacts) => void = () => {},
  ): Promise<BodyFacts> {
    checkId(id)
    await this.#sweep()
    const upload = randomUUID()
    await this.#loose.put(upload, { aliveAt: Date.now() })
    const keepAlive = () =>
      this.#loose.update(upload, (row) => (row && isAlive(row) ? { aliveAt: Date.now() } : undefined))
    const alive = setInterval(() => void keepAlive().catch(() => {}), this.#leaseMs / 4).unref()
    try {
      const written = await this.#parts.write(upload, source)
      const head = { id, upload, ...written, writtenAt: new Date().toISOString() }
      const before = await this.#swap(head, also)
      if (before) await this.#drop(before.upload)
      return factsOf(head)
    } catch (error) {
      await this.#drop(upload).catch(() => {})
      throw error
    } finally {
      clearInterval(alive)
    }
  }

  async get(id: string): Promise<Body | undefined> {
    const head = await this.#heads.get(id)
    if (!head) return undefined
    return { ...factsOf(head), read: (from, to) => this.#parts.read(head, from, to) }
  }

  async delete(id: string, also: (transaction: Transaction) => void = () => {}): Promise<boolean> {
    const before = await this.#store.transaction((transaction) => {
      const head = transaction.get(this.#heads, id)
      if (!head) return undefined
      transaction.delete(this.#heads, id)
      transaction.put(this.#loose, head.upload, dead)
      also(transaction)
      return head
    })
    if (before) await this.#drop(before.upload)
    return before !== undefined
  }

  async list(page: PageOptions = {}): Promise<{ items: BodyFacts[]; total: number; next?: string }> {
    const { items, total, next } = await this.#heads.list(page)
    return { items: items.map(factsOf), total, ...(next !== undefined && { next }) }
  }

  /** Refuses an upload that was taken for dead meanwhile: its parts may be gone. */
  #swap(head: Head, also: (transaction: Transaction, facts: BodyFacts) => void): Promise<Head | undefined> {
    return this.#store.transaction((transaction) => {
      transaction.require(this.#loose, head.upload, (row) => row !== undefined && isAlive(row))
      const before = transaction.get(this.#heads, head.id)
      transaction.put(this.#heads, head.id, head)
      transaction.delete(this.#loose, head.upload)
      if (before) transaction.put(this.#loose, before.upload, dead)
      also(transaction, factsOf(head))
      return before
    })
  }

  /** Deletes the parts of an upload that is dead. */
  async #drop(upload: string): Promise<void> {
    await this.#parts.delete(upload)
    await this.#loose.delete(upload)
  }

  /** Deletes what dead uploads have left, once in a lease. */
  async #sweep(): Promise<void> {
    const now = Date.now()
    if (now - this.#sweptAt < this.#leaseMs) return
    this.#sweptAt = now
    for await (const [upload] of this.#loose.scan()) {
      const isOver = (aliveAt: number): boolean => now - aliveAt > this.#leaseMs
      if (await this.#loose.update(upload, (row) => (row && isOver(row.aliveAt) ? dead : undefined)))
        await this.#drop(upload)
    }
  }
}

const dead = { aliveAt: 0 }

const isAlive = ({ aliveAt }: typeof dead): boolean => aliveAt > 0

const factsOf = ({ id, size, sha256, writtenAt }: Head): BodyFacts => ({ id, size, sha256, writtenAt })
