/** When the first waiting job of each lane is due, at the earliest: what is known of waiting jobs without reading them. */
export class Lanes {
  readonly #kinds = new Map<string, Map<string, number>>()

  /** Follows a kind from now on. */
  open(kind: string): void {
    if (!this.#kinds.has(kind)) this.#kinds.set(kind, new Map())
  }

  isOpen(kind: string): boolean {
    return this.#kinds.has(kind)
  }

  close(kind: string): void {
    this.#kinds.delete(kind)
  }

  get kinds(): readonly string[] {
    return [...this.#kinds.keys()]
  }

  /** A job waits. */
  note(kind: string, lane: string, dueAt: number): void {
    const lanes = this.#kinds.get(kind)
    if (lanes && dueAt < (lanes.get(lane) ?? Number.POSITIVE_INFINITY)) lanes.set(lane, dueAt)
  }

  /** Forgets a lane, to be noted anew from the disk. */
  forget(kind: string, lane: string): void {
    this.#kinds.get(kind)?.delete(lane)
  }

  of(kind: string): ReadonlyMap<string, number> {
    return this.#kinds.get(kind) ?? new Map()
  }
}
