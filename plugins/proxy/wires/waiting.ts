/** Pieces that wait for their turn, by lane: those of the lane that has waited longest have it first. */
export class Waiting<T extends { readonly lane: string }> {
  readonly #pieces = new Map<string, T[]>()
  #lanes: string[] = []
  #next = 0

  get isEmpty(): boolean {
    return this.#pieces.size === 0
  }

  add(piece: T): void {
    const own = this.#pieces.get(piece.lane)
    if (own) own.push(piece)
    else {
      this.#pieces.set(piece.lane, [piece])
      this.#lanes.push(piece.lane)
    }
  }

  /** All pieces of the lane whose turn it is; there must be one. */
  take(): readonly [T, ...T[]] {
    const lane = this.#lanes[this.#next]!
    this.#next += 1
    if (this.#next === this.#lanes.length) {
      this.#lanes = []
      this.#next = 0
    }
    const own = this.#pieces.get(lane)!
    this.#pieces.delete(lane)
    return own as [T, ...T[]]
  }
}
