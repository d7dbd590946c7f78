import type { Cohort } from '#kernel'

/** Bytes that may wait for a slow reader before the provider's socket is paused. */
const highWater = 256 * 1024

type Bytes = readonly Buffer[] | undefined

/** The bytes of one answer between the socket they come from and the reader that waits for them. */
export class Arrivals {
  readonly #cohort: Cohort
  /** Called when there is room again, after bytes for which there was none. */
  readonly #room: () => void
  #queue: Buffer[] = []
  #queued = 0
  #collecting = false
  #isOver = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(cohort: Cohort, room: () => void) {
    this.#cohort = cohort
    this.#room = room
  }

  /** Whether nothing can come any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Why not all of it came. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Takes bytes in; false when the reader is so slow that no more are to come for now. */
  push(bytes: Buffer): boolean {
    this.#queue.push(bytes)
    this.#queued += bytes.length
    this.#notifyTogether()
    return this.#collecting || this.#queued <= highWater
  }

  /** All of it has come. */
  end(): void {
    this.#isOver = true
    this.#notifyTogether()
  }

  /** No more comes; the reader learns of it after the bytes that came. */
  fail(error: Error): void {
    this.#isOver = true
    this.#failure = error
    this.#notify()
  }

  /** Forgets what has not been read. */
  drop(): void {
    this.#queue = []
    this.#queued = 0
  }

  /** All of it. A promise only when it is not there yet. */
  whole(): Buffer | Promise<Buffer> {
    this.#collecting = true
    if (this.#queued > highWater) this.#room()
    return this.#isOver ? this.#collected() : this.#complete()
  }

  /** The bytes that have come since the last read; undefined at the end. A promise only when there are none yet. */
  read(): Bytes | Promise<Bytes> {
    if (this.#queue.length === 0) {
      if (this.#failure) throw this.#failure
      return this.#isOver ? undefined : this.#more().then(() => this.read())
    }
    const batch = this.#queue
    const wasFull = this.#queued > highWater
    this.drop()
    if (wasFull) this.#room()
    return batch
  }

  async #complete(): Promise<Buffer> {
    while (!this.#isOver) await this.#more()
    return this.#collected()
  }

  #collected(): Buffer {
    if (this.#failure) throw this.#failure
    return this.#queue.length === 1 ? this.#queue[0]! : Buffer.concat(this.#queue)
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #notifyTogether(): void {
    if (this.#wake) this.#cohort.gather(() => this.#notify())
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
