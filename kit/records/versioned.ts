import { z } from 'zod'
import type { Collection, Page, PageOptions, Store, Transaction } from '../../storage/index.ts'
import { conflict } from '../errors.ts'
import { type Owned, OwnedRows, ownedKey } from './owned.ts'

/** An owned thing with versions, which are numbered from 1 without gaps and never change. */
export interface Versioned extends Owned {
  /** The newest one. */
  readonly current_version: number
  readonly updated_at: string
}

const storedVersion = z.object({
  /** The id of what it is a version of. */
  of: z.string(),
  version: z.int(),
  author: z.string(),
  created_at: z.string(),
  /** What it says: JSON, sealed where that is asked for. */
  body: z.string(),
})
export type StoredVersion = z.infer<typeof storedVersion>

/** Versions were of templates only, and said so. */
const renamed = (row: unknown): unknown => {
  const { template: of, ...rest } = row as Record<string, unknown>
  return { of, ...rest }
}

/** A version as it is to be stored, without its number. */
export type NewVersion = Omit<StoredVersion, 'of' | 'version'>

interface Terms<T> {
  /** What one is called, such as `template`. */
  readonly thing: string
  /** How many a user, or the admins together, may have, and how many versions each. */
  readonly most: { readonly things: number; readonly versions: number }
  /** Whether all may see a shared one; always, without it. */
  readonly isForAll?: (row: T) => boolean
}

export const versionKey = (id: string, version: number): string => `${id}/${version}`

/** Owned things in the store, with their versions in its collection `versions`. Each change is one transaction. */
export class VersionedRows<T extends Versioned> {
  /** Which there are, and who may see and change them. */
  readonly known: OwnedRows<T>
  readonly #store: Store
  readonly #rows: Collection<T>
  readonly #versions: Collection<StoredVersion>
  readonly #terms: Terms<T>

  constructor(store: Store, rows: Collection<T>, terms: Terms<T>) {
    this.#store = store
    this.#rows = rows
    this.#terms = terms
    this.known = new OwnedRows(rows, terms.thing, terms.isForAll)
    this.#versions = store.collection('versions', {
      schema: storedVersion,
      indexes: { of: (row) => [[row.of, row.version]] },
      version: 2,
      migrate: renamed,
    })
  }

  /** Throws a conflict where an owner has as many as it may. */
  demandRoom(owner: string | undefined): void {
    const { thing, most } = this.#terms
    if (this.known.of(owner).length >= most.things)
      throw conflict(`There are ${most.things} ${thing}s already. Delete one first.`, { param: 'slug' })
  }

  /** Throws a conflict where this is not the newest version, or no further one may come. */
  demandNext({ current_version }: Pick<T, 'current_version'>, after: number): void {
    const { thing, most } = this.#terms
    if (current_version !== after)
      throw conflict('Another version was published at the same moment. Read it, and publish again.')
    if (after >= most.versions)
      throw conflict(`A ${thing} takes ${most.versions} versions. Make another one.`)
  }

  /** One of an owner with its newest version, as a transaction sees them. */
  newestIn(
    tx: Transaction,
    owned: Pick<Owned, 'user_id' | 'slug'>,
  ): { readonly row: T; readonly newest: StoredVersion | undefined } | undefined {
    const row = tx.get(this.#rows, ownedKey(owned))
    return row && { row, newest: tx.get(this.#versions, versionKey(row.id, row.current_version)) }
  }

  /** Stores a row in a transaction, and its newest version where that is new. */
  storeIn(tx: Transaction, row: T, version: NewVersion | undefined): void {
    const { id, current_version: number } = row
    tx.put(this.#rows, ownedKey(row), row)
    if (version) tx.create(this.#versions, versionKey(id, number), { of: id, version: number, ...version })
  }

  /** Deletes a row in a transaction, with its versions. */
  removeIn(tx: Transaction, row: T): void {
    tx.delete(this.#rows, ownedKey(row))
    for (let n = 1; n <= row.current_version; n += 1) tx.delete(this.#versions, versionKey(row.id, n))
  }

  /** Stores a new one with its first version. Throws a conflict for a slug that is taken, and where there are too many. */
  async create(row: T, version: NewVersion): Promise<void> {
    const { slug, id, user_id } = row
    const { thing } = this.#terms
    this.demandRoom(user_id)
    await this.#store.transaction((tx) => {
      if (tx.get(this.#rows, ownedKey(row)))
        throw conflict(`There is a ${thing} ${slug} already.`, { param: 'slug' })
      tx.create(this.#rows, ownedKey(row), row)
      tx.create(this.#versions, versionKey(id, 1), { of: id, version: 1, ...version })
    })
  }

  /** Changes a row. `change` gets it as it is stored now, and may run more than once. */
  async change(row: T, change: (row: T) => T): Promise<T> {
    const changed = await this.#rows.update(ownedKey(row), (now) =>
      now?.id === row.id ? { ...change(now), updated_at: new Date().toISOString() } : undefined,
    )
    if (!changed) throw this.known.unknown(row.slug)
    return changed
  }

  /** Adds the version behind `after`, and changes the row with it; refuses it where another version came first. */
  publish(
    row: T,
    after: number,
    version: NewVersion,
    change: (row: T, version: number) => T = (now) => now,
  ): Promise<T> {
    return this.#store.transaction((tx) => {
      const now = tx.get(this.#rows, ownedKey(row))
      if (now?.id !== row.id) throw this.known.unknown(row.slug)
      this.demandNext(now, after)
      const next = after + 1
      tx.create(this.#versions, versionKey(row.id, next), { of: row.id, version: next, ...version })
      const changed = { ...change(now, next), current_version: next, updated_at: version.created_at }
      tx.put(this.#rows, ownedKey(row), changed)
      return changed
    })
  }

  /** Deletes one with its versions; returns how many these were. */
  delete(row: T): Promise<number> {
    return this.#store.transaction((tx) => {
      const now = tx.get(this.#rows, ownedKey(row))
      if (now?.id !== row.id) throw this.known.unknown(row.slug)
      this.removeIn(tx, now)
      return now.current_version
    })
  }

  /** A version as it is stored. */
  version(id: string, version: number): Promise<StoredVersion | undefined> {
    return this.#versions.get(versionKey(id, version))
  }

  /** The versions of one, newest first. */
  versions({ id }: Owned, page: PageOptions): Promise<Page<StoredVersion>> {
    return this.#versions.list({ ...page, index: 'of', equals: [id], reverse: true })
  }

  /** Deletes all of a user; returns how many rows these were, with versions. */
  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for (const row of this.known.of(user)) erased += (await this.delete(row)) + 1
    return erased
  }

  /** How many rows a user has, with versions. */
  countOf(user: string): number {
    return this.known.of(user).reduce((sum, { current_version }) => sum + current_version + 1, 0)
  }
}
