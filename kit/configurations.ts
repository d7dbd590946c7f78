/**
 * What each configuration of a module adds to what the module has once, by its id. While one is being replaced both are here,
 * and the later one counts.
 */
export class Configurations<T> {
  readonly #all: { readonly id: string; readonly value: T }[] = []

  /** Returns what takes it out again. */
  add(id: string, value: T): () => void {
    const added = { id, value }
    this.#all.push(added)
    return () => {
      const at = this.#all.indexOf(added)
      if (at !== -1) this.#all.splice(at, 1)
    }
  }

  /** One for each configuration. */
  get values(): readonly T[] {
    return [...new Map(this.#all.map(({ id, value }) => [id, value])).values()]
  }
}
