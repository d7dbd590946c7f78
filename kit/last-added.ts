/** Values by key, of which the last one counts: while a plugin is replaced, there are those of its old and of its new instance. */
export class LastAdded<T> {
  readonly #all = new Map<string, readonly T[]>()

  /** Returns what takes it out again. */
  add(key: string, value: T): () => void {
    this.#all.set(key, [...(this.#all.get(key) ?? []), value])
    return () => {
      const left = (this.#all.get(key) ?? []).filter((other) => other !== value)
      if (left.length > 0) this.#all.set(key, left)
      else this.#all.delete(key)
    }
  }

  get(key: string): T | undefined {
    return this.#all.get(key)?.at(-1)
  }

  /** The values under each key, the last one last. */
  get lists(): (readonly T[])[] {
    return [...this.#all.values()]
  }
}
