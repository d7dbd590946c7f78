import { prefixRange, sortableInteger } from './keys.ts'

/** Where the chunks, blocks and totals of one log lie. Rows are numbered from 0 in the order of their arrival. */
export class LogKeys {
  readonly meta: string
  readonly headers: string
  readonly cells: string
  /** What the keys of the chunks of rows begin with. */
  readonly chunks: string
  readonly #prefix: string

  constructor(path: string) {
    this.#prefix = `l/${path}!`
    this.meta = `${this.#prefix}m`
    this.headers = `${this.#prefix}h!`
    this.cells = `${this.#prefix}c!`
    this.chunks = `${this.#prefix}r`
  }

  rows(chunk: number): string {
    return this.chunks + sortableInteger(chunk)
  }

  bodies(chunk: number): string {
    return `${this.#prefix}b${sortableInteger(chunk)}`
  }

  /** A body too large to share a chunk. */
  largeBody(row: number): string {
    return `${this.#prefix}y${sortableInteger(row)}`
  }

  header(block: number): string {
    return this.headers + sortableInteger(block)
  }

  ids(block: number): string {
    return `${this.#prefix}i${sortableInteger(block)}`
  }

  times(block: number): string {
    return `${this.#prefix}t${sortableInteger(block)}`
  }

  numbers(block: number, name: string): string {
    return `${this.#prefix}n${sortableInteger(block)}!${name}`
  }

  posting(block: number, field: string): string {
    return `${this.postings(block)}${field}`
  }

  postings(block: number): string {
    return `${this.#prefix}p${sortableInteger(block)}!`
  }

  postingsRange(block: number): { gte: string; lt: string } {
    return prefixRange(this.postings(block))
  }

  largeBodiesRange(from: number, to: number): { gte: string; lt: string } {
    return { gte: this.largeBody(from), lt: this.largeBody(to) }
  }

  cell(name: string): string {
    return this.cells + name
  }
}
