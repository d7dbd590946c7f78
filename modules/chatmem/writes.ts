/** Writes of this thread that are under way: one at a time for a session, so that who follows a write can wait for it. */
export class Writes {
  readonly #last = new Map<string, Promise<void>>()

  /** Begins a write behind the one before it. Resolves when it is over; what it rejects with is its caller's. */
  run(id: string, write: () => Promise<void>): Promise<void> {
    const done = this.of(id).then(write)
    const over = done
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(id) === over) this.#last.delete(id)
      })
    this.#last.set(id, over)
    return done
  }

  /** Resolves when nothing of a session is being written; never rejects. */
  of(id: string): Promise<void> {
    return this.#last.get(id) ?? Promise.resolve()
  }

  /** The same for all sessions. */
  async all(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
