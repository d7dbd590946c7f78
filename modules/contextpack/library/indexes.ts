import { LRUCache } from 'lru-cache'
import type { Collection } from '#kernel'
import { takingTurns } from '#kit'
import type { Contents } from './contents.ts'
import { CollectionIndex, type Passage } from './index-of-collection.ts'
import type { CollectionRow, DocumentRow } from './rows.ts'

/** Characters of the collections that one thread has in memory; the one that was searched longest ago goes first. */
const mostCharacters = 40_000_000

interface Held {
  readonly index: CollectionIndex
  /** Documents that changed since they were taken in. */
  readonly stale: Set<string>
  /** Resolves when what has changed until now is taken in. */
  ready: Promise<void>
}

/** The indexes of collections. Each is made with the first search, and follows the changes of all threads from then on. */
export class Indexes {
  readonly #documents: Collection<DocumentRow>
  readonly #contents: Contents
  readonly #held = new LRUCache<string, Held>({ maxSize: mostCharacters })

  constructor(documents: Collection<DocumentRow>, contents: Contents) {
    this.#documents = documents
    this.#contents = contents
  }

  /** Takes note of documents that come, change and go; returns what ends that. */
  watch(): () => void {
    return this.#documents.watch(({ id, row }) => {
      if (row) this.#held.peek(row.collection)?.stale.add(id)
      else for (const { stale } of this.#held.values()) stale.add(id)
    })
  }

  /** The passages of a collection that have terms of the query, best first. */
  async search({ id, characters }: CollectionRow, query: string, most: number): Promise<Passage[]> {
    const held = this.#held.get(id) ?? this.#load(id)
    this.#held.set(id, held, { size: characters + 1 })
    if (held.stale.size > 0) held.ready = held.ready.then(() => this.#refresh(held))
    try {
      await held.ready
    } catch (error) {
      this.#held.delete(id)
      throw error
    }
    return held.index.search(query, most)
  }

  #load(collection: string): Held {
    const index = new CollectionIndex()
    return { index, stale: new Set(), ready: this.#fill(index, collection) }
  }

  async #fill(index: CollectionIndex, collection: string): Promise<void> {
    const turn = takingTurns()
    for await (const [, row] of this.#documents.scan({ index: 'collection', equals: [collection] })) {
      await this.#take(index, row)
      await turn()
    }
  }

  async #refresh({ index, stale }: Held): Promise<void> {
    for (const id of stale) {
      stale.delete(id)
      const row = await this.#documents.get(id)
      if (row) await this.#take(index, row)
      else index.delete(id)
    }
  }

  async #take(index: CollectionIndex, row: DocumentRow): Promise<void> {
    const content = await this.#contents.read(row)
    if (content) index.put(row, content)
    else index.delete(row.id)
  }
}
