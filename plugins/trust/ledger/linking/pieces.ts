/** The numbers that a piece has: where it begins, where it ends, and which piece follows. */
const width = 3
const endAt = 1
const nextAt = 2
/** So few bytes are copied faster here than by the function for many. */
const short = 48

/** No piece. */
export const none = 0

/** Lists of pieces of some bytes: an order in which they are copied, for which none has to move before. */
export class Pieces {
  #table = new Int32Array(256 * width)
  /** The first row stands for no piece. */
  #used = width

  clear(): void {
    this.#used = width
  }

  /** A list of one piece. */
  add(start: number, end: number): number {
    const piece = this.#used
    if (piece === this.#table.length) this.#grow()
    this.#table[piece] = start
    this.#table[piece + endAt] = end
    this.#table[piece + nextAt] = none
    this.#used = piece + width
    return piece
  }

  /** Puts a piece behind the last one of a list. Returns which is the last one then: the same where one goes on with the other. */
  append(last: number, start: number, end: number): number {
    if (this.#table[last + endAt] === start) {
      this.#table[last + endAt] = end
      return last
    }
    return this.join(last, this.add(start, end))
  }

  /** Puts a list behind the last piece of another one. Returns the first piece of what follows. */
  join(last: number, next: number): number {
    this.#table[last + nextAt] = next
    return next
  }

  /** Copies the pieces of a list one behind the other. Returns how many bytes these are. */
  copy(first: number, from: Buffer, to: Buffer): number {
    const table = this.#table
    let length = 0
    for (let piece = first; piece !== none; piece = table[piece + nextAt]!) {
      const start = table[piece]!
      const end = table[piece + endAt]!
      if (end - start > short) length += from.copy(to, length, start, end)
      else for (let at = start; at < end; at++) to[length++] = from[at]!
    }
    return length
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#table.length)
    grown.set(this.#table)
    this.#table = grown
  }
}
