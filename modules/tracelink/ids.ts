import { randomFillSync } from 'node:crypto'

const poolBytes = 4096

/** Random ids of traces and spans. Bytes are fetched in bulk, because each fetch costs microseconds. */
export class Ids {
  readonly #pool = Buffer.alloc(poolBytes)
  #used = poolBytes

  /** 32 hexadecimal digits. */
  trace(): string {
    return this.#next(16)
  }

  /** 16 hexadecimal digits. */
  span(): string {
    return this.#next(8)
  }

  /** Never all zeros, which is no valid id. */
  #next(bytes: number): string {
    if (this.#used + bytes > poolBytes) {
      randomFillSync(this.#pool)
      this.#used = 0
    }
    const id = this.#pool.toString('hex', this.#used, this.#used + bytes)
    this.#used += bytes
    return /[1-9a-f]/.test(id) ? id : this.#next(bytes)
  }
}
