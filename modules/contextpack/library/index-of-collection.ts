import { takingTurns } from '#kit'
import type { Chunk } from '../chunk.ts'
import { chunksOf } from '../chunks.ts'
import { Bm25 } from '../ranking/bm25.ts'
import { termsOf } from '../ranking/terms.ts'
import type { Content } from './contents.ts'
import type { DocumentRow } from './rows.ts'

/** A chunk of a collection that was found. */
export interface Passage extends Chunk {
  readonly document: string
  readonly title: string
  /** Its place in the document, from 0. */
  readonly chunk: number
  readonly score: number
}

/** What a passage is searched by: its text, and what stands above it. */
export const wordsOfPassage = (title: string, { path, text }: Chunk): string =>
  [title, ...path, text].join('\n')

interface Known extends Omit<Passage, 'score'> {
  /** The state of the document that it is of. */
  readonly of: string
}

/** What is searched of a collection, in the memory of one thread. */
export class CollectionIndex {
  readonly #ranking = new Bm25()
  readonly #known = new Map<string, Known>()
  readonly #documents = new Map<string, number>()

  /** Takes a document in, in the place of its earlier state. Others have their turn meanwhile: a long one takes half a second. */
  async put(
    { id, format, updated_at: of }: Pick<DocumentRow, 'id' | 'format' | 'updated_at'>,
    { title, text }: Content,
  ): Promise<void> {
    this.delete(id)
    const turn = takingTurns()
    const chunks = chunksOf(text, format)
    this.#documents.set(id, chunks.length)
    for (const [at, { path, text }] of chunks.entries()) {
      const key = keyOf(id, at)
      this.#known.set(key, { document: id, title, chunk: at, path, text, of })
      this.#ranking.add(key, termsOf(wordsOfPassage(title, { path, text })))
      await turn()
    }
  }

  delete(id: string): void {
    const chunks = this.#documents.get(id) ?? 0
    for (let at = 0; at < chunks; at += 1) {
      this.#ranking.delete(keyOf(id, at))
      this.#known.delete(keyOf(id, at))
    }
    this.#documents.delete(id)
  }

  /** The passage of a key, if its document is still in that state. */
  find(key: string, state: string): Omit<Passage, 'score'> | undefined {
    const known = this.#known.get(key)
    return known?.of === state ? known : undefined
  }

  search(query: string, most: number): Passage[] {
    return this.#ranking
      .search(termsOf(query), most)
      .map(({ id, score }) => ({ ...this.#known.get(id)!, score }))
  }
}

/** Numbers of one width, so that keys have the order of the chunks. */
export const keyOf = (document: string, at: number): string => `${document}/${String(at).padStart(5, '0')}`
