interface SharedRoomOptions<T> {
  /** The sum of the sizes of all. */
  readonly most: number
  /** Up to this size a thing is not counted, so that there is always room for small ones. */
  readonly free: number
  /** Ends what has to give way. It is no longer in the room. */
  readonly evict: (thing: T) => void
}

/**
 * Bounds the sizes of things that grow until they are whole, such as bodies that are received. Where they would be larger together, the one
 * that was counted first gives way: it is the likeliest to stay unfinished, and those that come quickly pass.
 */
export class SharedRoom<T> {
  readonly #options: SharedRoomOptions<T>
  /** In the order in which they were first counted. */
  readonly #sizes = new Map<T, number>()
  #sum = 0

  constructor(options: SharedRoomOptions<T>) {
    this.#options = options
  }

  /** A thing has this size by now. */
  hold(thing: T, size: number): void {
    const { most, free, evict } = this.#options
    if (size <= free) return
    this.#sum += size - (this.#sizes.get(thing) ?? 0)
    this.#sizes.set(thing, size)
    for (const first of this.#sizes.keys()) {
      if (this.#sum <= most) return
      this.leave(first)
      evict(first)
    }
  }

  /** A thing is whole, or given up. */
  leave(thing: T): void {
    this.#sum -= this.#sizes.get(thing) ?? 0
    this.#sizes.delete(thing)
  }
}
