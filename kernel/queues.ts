/** How a queue is: what waits in it, its size, and what it had to drop since the start. */
export interface QueueStatus {
  readonly depth: number
  readonly bytes: number
  readonly dropped: number
}

/** The queues of this process by name, for its status. */
export class Queues {
  readonly #readers = new Map<string, () => QueueStatus>()

  /** Adds a queue, in place of one of the same name; returns what takes it away again. */
  add(name: string, read: () => QueueStatus): () => void {
    this.#readers.set(name, read)
    return () => {
      if (this.#readers.get(name) === read) this.#readers.delete(name)
    }
  }

  read(): Record<string, QueueStatus> {
    return Object.fromEntries([...this.#readers].map(([name, read]) => [name, read()]))
  }
}
