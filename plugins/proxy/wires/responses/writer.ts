import { Waiting } from '../waiting.ts'
import { type Events, OpenItem, type Piece } from './open-item.ts'
import type { Item } from './schema.ts'

/**
 * Writes items one after another, each begun once, gone on with and ended: no other order can come out. Providers may
 * mix the parts of several tool calls; a part whose turn has not come waits until the call before it is complete.
 */
export class ItemWriter {
  readonly #events: Events
  readonly #id: string
  readonly #ended: Item[] = []
  readonly #endedCalls = new Set<string>()
  #open: OpenItem | undefined
  readonly #waiting = new Waiting<Piece>()

  /** Ids of items are made of `id`, that of the response, and their place. */
  constructor(events: Events, id: string) {
    this.#events = events
    this.#id = id
  }

  /** The items so far; the last may still be open. */
  get items(): readonly Item[] {
    return this.#open ? [...this.#ended, this.#open.item] : this.#ended
  }

  write(piece: Piece): void {
    if (this.#endedCalls.has(piece.lane)) return
    if (this.#open?.lane === piece.lane) {
      this.#open.add(piece)
      while (!this.#waiting.isEmpty && this.#open.complete) this.#turn()
    } else if (!this.#waiting.isEmpty || this.#open?.complete === false) this.#waiting.add(piece)
    else this.#begin(piece, [piece])
  }

  /** Ends everything that is open or waits; the last item is then whole, or cut off. */
  end(status: 'completed' | 'incomplete'): readonly Item[] {
    while (!this.#waiting.isEmpty) this.#turn()
    this.#close(status)
    return this.#ended
  }

  /** Begins the item that has waited longest, with all of it that is there. */
  #turn(): void {
    const own = this.#waiting.take()
    this.#begin(own[0], own)
  }

  #begin(first: Piece, pieces: readonly Piece[]): void {
    this.#close('completed')
    const index = this.#ended.length
    this.#open = new OpenItem(this.#events, index, `${this.#id}_${index}`, first)
    for (const piece of pieces) this.#open.add(piece)
  }

  #close(status: 'completed' | 'incomplete'): void {
    if (!this.#open) return
    const item = this.#open.close(status)
    if ('call_id' in item) this.#endedCalls.add(this.#open.lane)
    this.#ended.push(item)
    this.#open = undefined
  }
}
