/** Writes of this thread that are under way, each under a name: those of one name run one at a time, and others can wait for them. */
export class Writes {
  readonly #last = new Map<string, Promise<void>>()

  /** Begins a write behind the one before it. Settles as the write does, with what it comes to; a failure does not keep the next one. */
  run<T>(name: string, write: () => Promise<T>): Promise<T> {
    const done = this.of(name).then(write)
    const over = done
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        if (this.#last.get(name) === over) this.#last.delete(name)
      })
    this.#last.set(name, over)
    return done
  }

  /** Resolves when nothing is being written under a name; never rejects. */
  of(name: string): Promise<void> {
    return this.#last.get(name) ?? Promise.resolve()
  }

  /** The same for all names. */
  async all(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
