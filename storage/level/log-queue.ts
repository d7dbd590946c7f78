import { type QueuedRow, sizeOf } from './queued-row.ts'

/** The rows of one write, and their size. */
export interface Taken {
  readonly rows: readonly QueuedRow[]
  readonly bytes: number
}

/** Rows that wait, bounded by their size. */
export class LogQueue {
  /** Rows beyond this are dropped. */
  maxBytes: number
  #rows: QueuedRow[] = []
  /** How many of them were taken before. */
  #returned = 0
  #bytes = 0
  readonly #writing = { rows: 0, bytes: 0 }
  #dropped = 0
  #invalid = 0

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

  get isFull(): boolean {
    return this.bytes >= this.maxBytes
  }

  /** Rows and bytes whose writing has not begun. */
  get waiting(): { rows: number; bytes: number } {
    return { rows: this.#rows.length, bytes: this.#bytes }
  }

  push(row: QueuedRow): void {
    const bytes = sizeOf(row)
    if (this.bytes + bytes > this.maxBytes) {
      this.#dropped++
      return
    }
    this.#rows.push(row)
    this.#bytes += bytes
  }

  /** Hands over all rows; they count as waiting until `settle`. */
  take(): Taken {
    const taken = { rows: this.#rows, bytes: this.#bytes }
    this.#writing.rows += taken.rows.length
    this.#writing.bytes += taken.bytes
    this.#rows = []
    this.#returned = 0
    this.#bytes = 0
    return taken
  }

  /** The rows that were taken are written, or lost. */
  settle({ rows, bytes }: Taken): void {
    this.#writing.rows -= rows.length
    this.#writing.bytes -= bytes
  }

  /** Takes back rows that were taken and settled and could not be written: before later ones, behind earlier ones. */
  putBack(rows: readonly QueuedRow[]): void {
    const [earlier, later] = [this.#rows.slice(0, this.#returned), this.#rows.slice(this.#returned)]
    this.#rows = [...earlier, ...rows, ...later]
    this.#returned += rows.length
    for (const row of rows) this.#bytes += sizeOf(row)
  }

  drop(rows: number): void {
    this.#dropped += rows
  }

  /** Counts a row that is no row of this log. */
  refuse(): void {
    this.#dropped++
    this.#invalid++
  }

  /** How many were refused since this was asked last. */
  takeRefused(): number {
    const invalid = this.#invalid
    this.#invalid = 0
    return invalid
  }
}
