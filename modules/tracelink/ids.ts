import { randomBytes } from 'node:crypto'

const poolBytes = 4096

/** Random ids of traces and spans. Digits are made in bulk, because each time costs microseconds. */
export class Ids {
  #digits = ''
  #used = 0

  /** 32 hexadecimal digits. */
  trace(): string {
    return this.#next(32)
  }

  /** 16 hexadecimal digits. */
  span(): string {
    return this.#next(16)
  }

  /** Never all zeros, which is no valid id. */
  #next(length: number): string {
    if (this.#used + length > this.#digits.length) {
      this.#digits = randomBytes(poolBytes).toString('hex')
      this.#used = 0
    }
    const id = this.#digits.slice(this.#used, this.#used + length)
    this.#used += length
    return /[1-9a-f]/.test(id) ? id : this.#next(length)
  }
}
