import { conflict, forbidden, newId, notFound, type OnceContext, type Principal, type Store } from '#kernel'
import { followRows, personalOfUsers } from '#kit'
import { Contents } from './contents.ts'
import { Documents } from './documents.ts'
import { Embeddable } from './embeddable.ts'
import { Finder } from './finder.ts'
import { type CollectionRow, collectionsIn, documentsIn, mayChange, maySee, namedFor } from './rows.ts'
import { Vectors } from './vectors.ts'

/** Collections of one user, and of all admins together. */
const mostCollections = 100

export type CollectionFields = Partial<Pick<CollectionRow, 'description'>> &
  Pick<CollectionRow, 'name' | 'share'>

/** Collections of documents: who may see, change and use them, and what is in them. */
export class Library {
  readonly documents: Documents
  readonly vectors: Vectors
  readonly embeddable: Embeddable
  readonly finder: Finder
  readonly #store: Store
  readonly #rows: ReturnType<typeof collectionsIn>
  readonly #known = new Map<string, CollectionRow>()

  private constructor(context: OnceContext) {
    const { store } = context
    const contents = new Contents(context)
    this.#store = store
    this.#rows = collectionsIn(store)
    const documents = documentsIn(store)
    this.vectors = new Vectors(store, contents)
    this.documents = new Documents(store, this.#rows, documents, contents, this.vectors)
    this.embeddable = new Embeddable(this.#rows, documents, contents)
    this.finder = new Finder(documents, contents, this.vectors)
  }

  /** That of a module, for its `once`: collections are known from memory, also those of other threads. */
  static async of(context: OnceContext): Promise<Library> {
    const library = new Library(context)
    const { own, personal } = context
    own(library.finder.watch())
    own(
      await followRows(library.#rows, (id, row) => {
        if (row) library.#known.set(id, row)
        else library.#known.delete(id)
      }),
    )
    personal(
      personalOfUsers({ count: (user) => library.#countOf(user), erase: (user) => library.#eraseOf(user) }),
    )
    return library
  }

  /** The collections that a caller may see, newest first. */
  seenBy(caller: Principal): CollectionRow[] {
    return Array.from(this.#known.values())
      .filter((row) => maySee(row, caller))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  /** Throws where the caller may not see it, as if it were not there. */
  find(id: string, caller: Principal): CollectionRow {
    const row = this.#known.get(id)
    if (row && maySee(row, caller)) return row
    throw notFound(`There is no collection ${id}.`, { param: 'id' })
  }

  /** Throws where the caller may not change it. */
  findOwn(id: string, caller: Principal): CollectionRow {
    const row = this.find(id, caller)
    if (mayChange(row, caller)) return row
    throw forbidden(`The collection ${id} belongs to someone else, who can change it.`, { param: 'id' })
  }

  /** The collections of a name that belong to admins; one, unless two were made at the same moment. */
  ofAdmins(name: string): CollectionRow[] {
    return this.#ownedBy(undefined).filter((row) => row.name === name)
  }

  /** The collection of a name for the calls of a caller. */
  named(name: string, caller: Principal): CollectionRow | undefined {
    return namedFor(this.#known.values(), name, caller)
  }

  async create(fields: CollectionFields, { type, userId, tenant }: Principal): Promise<CollectionRow> {
    const owner = type === 'admin' ? undefined : userId
    const own = this.#ownedBy(owner)
    if (own.length >= mostCollections)
      throw conflict(`There are ${mostCollections} collections already. Delete one first.`)
    this.#checkName(fields.name, own)
    const now = new Date().toISOString()
    const row: CollectionRow = {
      ...fields,
      id: newId('col_'),
      ...(owner !== undefined && { user_id: owner }),
      ...(tenant !== undefined && { tenant }),
      documents: 0,
      characters: 0,
      created_at: now,
      updated_at: now,
    }
    await this.#rows.create(row.id, row)
    return row
  }

  async change({ id, user_id }: CollectionRow, fields: Partial<CollectionFields>): Promise<CollectionRow> {
    if (fields.name !== undefined) {
      this.#checkName(
        fields.name,
        this.#ownedBy(user_id).filter((other) => other.id !== id),
      )
    }
    const row = await this.#rows.update(
      id,
      (row) => row && { ...row, ...fields, updated_at: new Date().toISOString() },
    )
    if (!row) throw notFound(`There is no collection ${id}.`, { param: 'id' })
    return row
  }

  /** Deletes a collection with its documents, and returns how many these were. */
  async delete({ id }: CollectionRow): Promise<number> {
    for (let deleted = 0; ; ) {
      const these = await this.documents.deleteAll(id)
      deleted += these
      // One may have been added meanwhile, and would be left without a collection.
      const isGone = await this.#store.transaction((tx) => {
        if (these > 0 && (tx.get(this.#rows, id)?.documents ?? 0) > 0) return false
        tx.delete(this.#rows, id)
        return true
      })
      if (isGone) return deleted
    }
  }

  #ownedBy(owner: string | undefined): CollectionRow[] {
    return Array.from(this.#known.values()).filter(({ user_id }) => user_id === owner)
  }

  #checkName(name: string, own: readonly CollectionRow[]): void {
    if (own.some((row) => row.name === name)) {
      throw conflict(`There is a collection ${name} already.`, { param: 'name' })
    }
  }

  async #countOf(user: string): Promise<number> {
    return this.#ownedBy(user).reduce((sum, { documents }) => sum + documents + 1, 0)
  }

  async #eraseOf(user: string): Promise<number> {
    let erased = 0
    for (const row of this.#ownedBy(user)) erased += (await this.delete(row)) + 1
    return erased
  }
}
