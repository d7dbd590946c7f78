import {
  badRequest,
  type Collection,
  conflict,
  newId,
  notFound,
  type Page,
  type PageOptions,
  type Store,
  tooLarge,
} from '#kernel'
import { chunksOf } from '../chunks.ts'
import type { Content, Contents } from './contents.ts'
import type { CollectionRow, DocumentRow, Format } from './rows.ts'
import type { Vectors } from './vectors.ts'

/** Bounds of a collection: they bound what an index takes in memory, and how long one takes to make. */
const most = { documents: 2000, characters: 10_000_000 }
/** Characters of a document. */
export const longestDocument = 400_000
const mostChunks = 2000

export type DocumentFields = Content & { readonly format: Format }

/** The documents of all collections. A document and the sums of its collection change together. */
export class Documents {
  readonly #store: Store
  readonly #collections: Collection<CollectionRow>
  readonly #rows: Collection<DocumentRow>
  readonly #contents: Contents
  readonly #vectors: Vectors

  constructor(
    store: Store,
    collections: Collection<CollectionRow>,
    rows: Collection<DocumentRow>,
    contents: Contents,
    vectors: Vectors,
  ) {
    this.#vectors = vectors
    this.#store = store
    this.#collections = collections
    this.#rows = rows
    this.#contents = contents
  }

  /** Newest first. */
  list({ id }: CollectionRow, page: PageOptions): Promise<Page<DocumentRow>> {
    return this.#rows.list({ ...page, index: 'collection', equals: [id], reverse: true })
  }

  /** Throws where the collection has no such document. */
  async find(collection: CollectionRow, id: string): Promise<DocumentRow> {
    const row = await this.#rows.get(id)
    if (row?.collection === collection.id) return row
    throw notFound(`The collection has no document ${id}.`, { param: 'documentId' })
  }

  /** The words of a document; undefined where they cannot be opened any more. */
  read(row: DocumentRow): Promise<Content | undefined> {
    return this.#contents.read(row)
  }

  /** Adds a document, or puts it in the place of an earlier one. */
  async put(
    collection: CollectionRow,
    { title, text, format }: DocumentFields,
    earlier?: DocumentRow,
  ): Promise<DocumentRow> {
    const chunks = chunksOf(text, format).length
    if (chunks === 0) throw badRequest('body content: has no text.', { param: 'content' })
    if (chunks > mostChunks)
      throw tooLarge(`The document has more than ${mostChunks} passages. Divide it.`, { param: 'content' })
    const now = new Date().toISOString()
    const row: DocumentRow = {
      id: earlier?.id ?? newId('doc_'),
      collection: collection.id,
      content: await this.#contents.write(collection, { title, text }),
      format,
      characters: title.length + text.length,
      chunks,
      created_at: earlier?.created_at ?? now,
      updated_at: now,
    }
    await this.#store.transaction((tx) => {
      const before = tx.get(this.#rows, row.id)
      if (earlier && !before)
        throw notFound(`The collection has no document ${row.id}.`, { param: 'documentId' })
      const sums = tx.update(
        this.#collections,
        row.collection,
        (found) => found && added(found, before ? 0 : 1, row.characters - (before?.characters ?? 0)),
      )
      if (!sums) throw notFound(`There is no collection ${row.collection}.`, { param: 'id' })
      if (sums.documents > most.documents || sums.characters > most.characters) {
        throw conflict(
          `A collection takes ${most.documents} documents and ${most.characters} characters. Make another one.`,
        )
      }
      tx.put(this.#rows, row.id, row)
    })
    return row
  }

  /** Whether it was there. */
  async delete({ id }: DocumentRow): Promise<boolean> {
    const wasThere = await this.#store.transaction((tx) => {
      const row = tx.get(this.#rows, id)
      if (!row) return false
      tx.delete(this.#rows, id)
      tx.update(this.#collections, row.collection, (found) => found && added(found, -1, -row.characters))
      return true
    })
    await this.#vectors.deleteOf(id)
    return wasThere
  }

  /** Deletes the documents of a collection one by one; returns how many there were. */
  async deleteAll(collection: string): Promise<number> {
    let deleted = 0
    for await (const [, row] of this.#rows.scan({ index: 'collection', equals: [collection] })) {
      if (await this.delete(row)) deleted += 1
    }
    return deleted
  }
}

const added = (row: CollectionRow, documents: number, characters: number): CollectionRow => ({
  ...row,
  documents: row.documents + documents,
  characters: row.characters + characters,
  updated_at: new Date().toISOString(),
})
