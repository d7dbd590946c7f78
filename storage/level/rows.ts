import { StoreError } from '../errors.ts'
import type { CollectionOptions } from '../index.ts'
import type { Backing } from './backing.ts'
import { CollectionKeys, type EncodedRow, encode, repairEntries, writeRow } from './row-writer.ts'
import { type Shape, shapeOf } from './shape.ts'
import { decodeRow, jsonOfVersion } from './stored-row.ts'

/**
 * The rows of a collection as they are in this turn of the event loop, on disk or about to be. Code that reads, decides and
 * writes here in one turn needs no lock: it is inside the gate, and the rows are of the current shape.
 */
export class Rows<T> {
  readonly keys: CollectionKeys
  readonly #backing: Backing
  readonly #path: string
  shape: Shape<T>

  constructor(backing: Backing, path: string, options: CollectionOptions<T>) {
    this.keys = new CollectionKeys(path)
    this.#backing = backing
    this.#path = path
    this.shape = shapeOf(options)
  }

  has(id: string): boolean {
    return this.#backing.writer.read(this.keys.row(id)) !== undefined
  }

  /** The row; throws `ROW_UNREADABLE`. */
  read(id: string): T | undefined {
    const text = this.#backing.writer.read(this.keys.row(id))
    return text === undefined ? undefined : this.decodeOrThrow(id, text)
  }

  /** Whether it has to be mended before it is written or deleted. */
  isDamaged(id: string): boolean {
    const text = this.#backing.writer.read(this.keys.row(id))
    return text !== undefined && decodeRow(text) === undefined
  }

  mend(id: string): Promise<void> {
    return repairEntries(this.#backing, this.keys, id)
  }

  /** Throws what an index function throws. */
  encode(row: T): EncodedRow {
    return encode(this.shape.version, this.shape.indexes, row)
  }

  /** Has the row written, or deleted, with the group that is waiting. */
  write(id: string, row: EncodedRow | undefined): void {
    writeRow(this.#backing, this.keys, id, row)
  }

  /** Resolves when no change of the row waits any more. */
  settled(id: string): Promise<void> {
    return this.#backing.writer.settled(this.keys.row(id))
  }

  /** The row of a stored text; undefined, and reported, when it cannot be read. */
  decode(id: string, text: string, version: number = this.shape.version): T | undefined {
    try {
      const json = jsonOfVersion(text, version)
      if (json !== undefined) return JSON.parse(json)
    } catch {}
    const message = 'A stored row cannot be read. Replace or delete it.'
    this.#backing.report({ code: 'ROW_UNREADABLE', part: this.#path, id, message })
    return undefined
  }

  decodeOrThrow(id: string, text: string): T {
    const row = this.decode(id, text)
    if (row !== undefined) return row
    const message = `Row ${id} of ${this.#path} cannot be read. Replace or delete it.`
    throw new StoreError('ROW_UNREADABLE', message)
  }
}
