import type { Collection } from '#kernel'
import type { Contents } from './contents.ts'
import { CollectionIndex, type Passage } from './index-of-collection.ts'
import { Indexes } from './indexes.ts'
import type { CollectionRow, DocumentRow } from './rows.ts'
import type { Vectors } from './vectors.ts'

/** Finds passages of collections, by their words and by their vectors. */
export class Finder {
  readonly #words: Indexes<DocumentRow, CollectionIndex>
  readonly #vectors: Vectors

  constructor(documents: Collection<DocumentRow>, contents: Contents, vectors: Vectors) {
    this.#vectors = vectors
    this.#words = new Indexes(documents, {
      nameOf: ({ collection }) => collection,
      rowsOf: (id) => ({ index: 'collection', equals: [id] }),
      create: () => new CollectionIndex(),
      async put(index, id, row) {
        const content = await contents.read(row)
        if (content) await index.put(row, content)
        else index.delete(id)
      },
      delete: (index, id) => index.delete(id),
    })
  }

  /** Follows the changes of all threads; returns what ends that. */
  watch(): () => void {
    const ends = [this.#words.watch(), this.#vectors.indexes.watch()]
    return () => {
      for (const end of ends) end()
    }
  }

  /** The passages of a collection that have words of a question, best first. */
  async search(row: CollectionRow, question: string, most: number): Promise<Passage[]> {
    return (await this.#words.of(row.id, row.characters)).search(question, most)
  }

  /** The passages whose vectors by a model are near that of a question, nearest first. */
  async near(
    row: CollectionRow,
    model: string,
    vector: readonly number[],
    { least, most }: { readonly least: number; readonly most: number },
  ): Promise<Passage[]> {
    const words = await this.#words.of(row.id, row.characters)
    const vectors = await this.#vectors.indexOf(row, model)
    return vectors.search(vector, least, most).flatMap(({ key, of, score }) => {
      const passage = words.find(key, of)
      return passage ? [{ ...passage, score }] : []
    })
  }
}
