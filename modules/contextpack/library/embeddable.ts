import type { Collection } from '#kernel'
import { chunksOf } from '../chunks.ts'
import type { Contents } from './contents.ts'
import { wordsOfPassage } from './index-of-collection.ts'
import type { CollectionRow, DocumentRow } from './rows.ts'

/** Documents as whoever makes their vectors needs them. */
export class Embeddable {
  readonly #collections: Collection<CollectionRow>
  readonly #rows: Collection<DocumentRow>
  readonly #contents: Contents

  constructor(collections: Collection<CollectionRow>, rows: Collection<DocumentRow>, contents: Contents) {
    this.#collections = collections
    this.#rows = rows
    this.#contents = contents
  }

  /** Takes note of documents that come, change and go; returns what ends that. */
  watch(take: (id: string) => void): () => void {
    return this.#rows.watch(({ id }) => take(id))
  }

  async idsOf(collections: readonly CollectionRow[]): Promise<string[]> {
    const ids: string[] = []
    for (const { id } of collections) {
      for await (const [document] of this.#rows.scan({ index: 'collection', equals: [id] }))
        ids.push(document)
    }
    return ids
  }

  /** A document with its collection; undefined where it is gone. */
  async withCollection(id: string): Promise<{ row: DocumentRow; collection: CollectionRow } | undefined> {
    const row = await this.#rows.get(id)
    const collection = row && (await this.#collections.get(row.collection))
    return collection && { row, collection }
  }

  /** What the passages of a document are searched by, in their order. */
  async passagesOf(row: DocumentRow): Promise<string[]> {
    const content = await this.#contents.read(row)
    return content
      ? chunksOf(content.text, row.format).map((chunk) => wordsOfPassage(content.title, chunk))
      : []
  }
}
