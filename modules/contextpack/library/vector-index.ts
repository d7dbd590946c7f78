import { cosine } from '#kit'
import { keyOf } from './index-of-collection.ts'
import type { VectorRow } from './vectors.ts'

interface Known {
  /** The state of the document that it is of. */
  readonly of: string
  readonly vector: Int8Array
}

/** A passage that is near a question. */
export interface Near {
  readonly key: string
  readonly of: string
  readonly score: number
}

/** The vectors of a collection by one model, in memory. */
export class VectorIndex {
  readonly #known = new Map<string, Known>()
  readonly #keys = new Map<string, readonly string[]>()

  /** Takes a row in; `vectors` are its vectors in base64. */
  put(id: string, { document, from, of }: VectorRow, vectors: readonly string[]): void {
    this.delete(id)
    const keys = vectors.map((_, at) => keyOf(document, from + at))
    for (const [at, key] of keys.entries()) {
      this.#known.set(key, { of, vector: new Int8Array(Buffer.from(vectors[at]!, 'base64')) })
    }
    this.#keys.set(id, keys)
  }

  delete(id: string): void {
    for (const key of this.#keys.get(id) ?? []) this.#known.delete(key)
    this.#keys.delete(id)
  }

  /** The passages whose cosine with a vector is at least so much, nearest first. Looks at each of them. */
  search(vector: readonly number[], least: number, most: number): Near[] {
    return Array.from(this.#known, ([key, { of, vector: other }]) => ({
      key,
      of,
      score: cosine(vector, other),
    }))
      .filter(({ score }) => score >= least)
      .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
      .slice(0, most)
  }
}
