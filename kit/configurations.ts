/**
 * The contributions of a module's configurations, by their ids, to the part that the module has once. While a configuration is
 * being replaced, both of its instances are here, and the later one counts.
 */
export class Configurations<T> {
  readonly #all: { readonly id: string; readonly value: T }[] = []
  /** Made when asked for: they are asked for with each call, and rarely change. */
  #values: readonly T[] | undefined

  /** Returns what takes it out again. */
  add(id: string, value: T): () => void {
    const added = { id, value }
    this.#all.push(added)
    this.#values = undefined
    return () => {
      const at = this.#all.indexOf(added)
      if (at !== -1) this.#all.splice(at, 1)
      this.#values = undefined
    }
  }

  /** One for each configuration. */
  get values(): readonly T[] {
    this.#values ??= [...new Map(this.#all.map(({ id, value }) => [id, value])).values()]
    return this.#values
  }
}
