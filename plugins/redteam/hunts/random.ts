import { hash } from 'node:crypto'

/** Numbers that look random and follow from a seed, so that the same seed makes the same hunt. */
export class Random {
  #state: number

  constructor(seed: string) {
    this.#state = Number.parseInt(hash('sha256', seed, 'hex').slice(0, 8), 16)
  }

  /** From 0 to 1, without 1: Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** One of them; there must be one. */
  of<T>(all: readonly T[]): T {
    return all[Math.floor(this.next() * all.length)]!
  }
}
