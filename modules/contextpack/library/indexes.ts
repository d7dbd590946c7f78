import { LRUCache } from 'lru-cache'
import type { Collection, ListOptions } from '#kernel'
import { takingTurns } from '#kit'

/** Characters of the collections that one thread has in memory; what was searched longest ago goes first. */
const mostCharacters = 40_000_000

/** How rows become something that is searched. */
interface Kind<R, I> {
  /** What is searched together: the name of the index that a row belongs to. */
  nameOf(row: R): string
  /** The rows of an index. */
  rowsOf(name: string): ListOptions
  create(): I
  /** Takes a row in, in the place of its earlier state. */
  put(index: I, id: string, row: R): Promise<void>
  delete(index: I, id: string): void
}

interface Held<I> {
  readonly index: I
  /** Rows that changed since they were taken in. */
  readonly stale: Set<string>
  /** Resolves when what has changed until now is taken in. */
  ready: Promise<void>
}

/** Indexes in memory. Each is made with the first search, and follows the changes of all threads from then on. */
export class Indexes<R, I extends object> {
  readonly #rows: Collection<R>
  readonly #kind: Kind<R, I>
  readonly #held = new LRUCache<string, Held<I>>({ maxSize: mostCharacters })

  constructor(rows: Collection<R>, kind: Kind<R, I>) {
    this.#rows = rows
    this.#kind = kind
  }

  /** Takes note of rows that come, change and go; returns what ends that. */
  watch(): () => void {
    return this.#rows.watch(({ id, row }) => {
      if (row) this.#held.peek(this.#kind.nameOf(row))?.stale.add(id)
      else for (const { stale } of this.#held.values()) stale.add(id)
    })
  }

  /** The index as the store has it now. `characters` says how large it is. */
  async of(name: string, characters: number): Promise<I> {
    const held = this.#held.get(name) ?? this.#load(name)
    this.#held.set(name, held, { size: characters + 1 })
    if (held.stale.size > 0) held.ready = held.ready.then(() => this.#refresh(held))
    try {
      await held.ready
    } catch (error) {
      this.#held.delete(name)
      throw error
    }
    return held.index
  }

  #load(name: string): Held<I> {
    const index = this.#kind.create()
    return { index, stale: new Set(), ready: this.#fill(index, name) }
  }

  async #fill(index: I, name: string): Promise<void> {
    const turn = takingTurns()
    for await (const [id, row] of this.#rows.scan(this.#kind.rowsOf(name))) {
      await this.#kind.put(index, id, row)
      await turn()
    }
  }

  async #refresh({ index, stale }: Held<I>): Promise<void> {
    for (const id of stale) {
      stale.delete(id)
      const row = await this.#rows.get(id)
      if (row) await this.#kind.put(index, id, row)
      else this.#kind.delete(index, id)
    }
  }
}
