/**
 * Things by their names, that come and go with every call and hold it. What is taken out is emptied: V8 keeps the entries
 * of a map's old table alive once one of them was promoted, and with them all that they lead to.
 */
export class ShortLived<K, V> {
  readonly #cells = new Map<K, { thing: V | undefined }>()

  get size(): number {
    return this.#cells.size
  }

  get(name: K): V | undefined {
    return this.#cells.get(name)?.thing
  }

  set(name: K, thing: V): void {
    const cell = this.#cells.get(name)
    if (cell) cell.thing = thing
    else this.#cells.set(name, { thing })
  }

  /** Takes a thing out; undefined where there is none. */
  take(name: K): V | undefined {
    const cell = this.#cells.get(name)
    const thing = cell?.thing
    this.#cells.delete(name)
    if (cell) cell.thing = undefined
    return thing
  }

  /** Takes all of them out. */
  takeAll(): V[] {
    return [...this.#cells.keys()].map((name) => this.take(name)!)
  }
}
