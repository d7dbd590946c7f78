import { z } from 'zod'
import type { Collection, Store } from '#kernel'
import type { Contents } from './contents.ts'
import { Indexes } from './indexes.ts'
import type { CollectionRow, DocumentRow } from './rows.ts'
import { VectorIndex } from './vector-index.ts'

/** Passages whose vectors are one row. */
export const batch = 32

const row = z.object({
  collection: z.string(),
  document: z.string(),
  /** The state of the document that it is of. */
  of: z.string(),
  model: z.string(),
  /** The first passage. */
  from: z.int(),
  /** Vectors as JSON, sealed where that is asked for: texts can be guessed from them. */
  content: z.string(),
})
export type VectorRow = z.infer<typeof row>

const nameOf = (collection: string, model: string): string => JSON.stringify([collection, model])

/** The vectors of passages, by the models that made them. */
export class Vectors {
  readonly indexes: Indexes<VectorRow, VectorIndex>
  readonly #rows: Collection<VectorRow>
  readonly #contents: Contents

  constructor(store: Store, contents: Contents) {
    this.#contents = contents
    this.#rows = store.collection('vectors', {
      schema: row,
      indexes: { name: ({ collection, model }) => [[collection, model]] },
    })
    this.indexes = new Indexes(this.#rows, {
      nameOf: ({ collection, model }) => nameOf(collection, model),
      rowsOf: (name) => ({ index: 'name', equals: JSON.parse(name) }),
      create: () => new VectorIndex(),
      async put(index, id, row) {
        const vectors = await contents.open(row.content)
        if (vectors === undefined) index.delete(id)
        else index.put(id, row, JSON.parse(vectors))
      },
      delete: (index, id) => index.delete(id),
    })
  }

  indexOf({ id, characters }: CollectionRow, model: string): Promise<VectorIndex> {
    return this.indexes.of(nameOf(id, model), characters)
  }

  /** Whether the vectors of these passages are there for the present state of the document. */
  async has({ id, updated_at }: DocumentRow, model: string, from: number): Promise<boolean> {
    return (await this.#rows.get(keyOf(id, model, from)))?.of === updated_at
  }

  async put(
    collection: CollectionRow,
    { id, updated_at }: DocumentRow,
    model: string,
    from: number,
    vectors: readonly (readonly number[])[],
  ): Promise<void> {
    const json = JSON.stringify(vectors.map((vector) => Buffer.from(small(vector)).toString('base64')))
    const content = await this.#contents.seal(collection, json)
    const of = { collection: collection.id, document: id, of: updated_at }
    await this.#rows.put(keyOf(id, model, from), { ...of, model, from, content })
  }

  /** Deletes what is there of a document, by all models. */
  async deleteOf(document: string): Promise<void> {
    for await (const [id] of this.#rows.scan({ from: `${document}/`, to: `${document}0` }))
      await this.#rows.delete(id)
  }
}

const keyOf = (document: string, model: string, from: number): string => `${document}/${from}/${model}`

/** A vector in a byte for each number: its direction is what matters, and it stays the same within a percent. */
function small(vector: readonly number[]): Int8Array {
  const most = vector.reduce((most, x) => Math.max(most, Math.abs(x)), Number.MIN_VALUE)
  return Int8Array.from(vector, (x) => Math.round((127 * x) / most))
}
