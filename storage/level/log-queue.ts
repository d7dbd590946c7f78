/** A row that waits to be written. */
export interface Queued<T> {
  readonly row: T
  readonly body: (() => string | undefined) | undefined
}

const firstGuessBytes = 1024

/**
 * Rows that wait, bounded by their size. Rows become text only when they are written, so until then their size is
 * that of the rows before them.
 */
export class LogQueue<T> {
  /** Rows beyond this are dropped. */
  maxBytes: number
  #rows: Queued<T>[] = []
  #bytes = 0
  #writing = { rows: 0, bytes: 0 }
  #rowBytes = firstGuessBytes
  #bodyBytes = firstGuessBytes
  #dropped = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get depth(): number {
    return this.#rows.length + this.#writing.rows
  }

  get bytes(): number {
    return this.#bytes + this.#writing.bytes
  }

  get dropped(): number {
    return this.#dropped
  }

  /** Rows and bytes that nobody has begun to write. */
  get waiting(): { rows: number; bytes: number } {
    return { rows: this.#rows.length, bytes: this.#bytes }
  }

  push(row: T, body: (() => string | undefined) | undefined, bodyBytes = body ? this.#bodyBytes : 0): void {
    const bytes = this.#rowBytes + bodyBytes
    if (this.bytes + bytes > this.maxBytes) {
      this.#dropped++
      return
    }
    this.#rows.push({ row, body })
    this.#bytes += bytes
  }

  /** Hands over all rows; they count as waiting until `settle`. */
  take(): Queued<T>[] {
    const taken = this.#rows
    this.#writing = { rows: taken.length, bytes: this.#bytes }
    this.#rows = []
    this.#bytes = 0
    return taken
  }

  /** What was taken is written, or lost. */
  settle(): void {
    this.#writing = { rows: 0, bytes: 0 }
  }

  drop(rows: number): void {
    this.#dropped += rows
  }

  /** Corrects the guess with the sizes of rows that were written. */
  learn(rows: number, rowBytes: number, bodies: number, bodyBytes: number): void {
    if (rows > 0) this.#rowBytes = Math.ceil((this.#rowBytes + rowBytes / rows) / 2)
    if (bodies > 0) this.#bodyBytes = Math.ceil((this.#bodyBytes + bodyBytes / bodies) / 2)
  }
}
