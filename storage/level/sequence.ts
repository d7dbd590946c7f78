import type { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { Sequence } from '../index.ts'
import type { Backing } from './backing.ts'
import { sortableInteger } from './keys.ts'
import { readingOn } from './reading-on.ts'

/**
 * A sequence in LevelDB. The number of the last entry lies beside the entries and changes in the same batch; an
 * append reads it, makes the entry and joins the waiting group within one turn, so none can come in between.
 */
export class LevelSequence<T> implements Sequence<T> {
  readonly #backing: Backing
  readonly #path: string
  readonly #lastKey: string
  #schema: z.ZodType<T>

  constructor(backing: Backing, path: string, schema: z.ZodType<T>) {
    this.#backing = backing
    this.#path = path
    this.#lastKey = `s/${path}!n`
    this.#schema = schema
  }

  /** Takes over the schema of a handle that was made later. */
  reshape(schema: z.ZodType<T>): void {
    this.#schema = schema
  }

  append(make: (previous: T | undefined, seq: number) => T): Promise<T> {
    return this.#backing.gate.run(async () => {
      const { writer } = this.#backing
      const last = Number(writer.read(this.#lastKey) ?? 0)
      const text = writer.read(this.#entryKey(last))
      const previous: T | undefined = text === undefined ? undefined : this.#decode(last, text)
      const made = this.#schema.safeParse(make(previous, last + 1))
      if (!made.success) {
        throw new StoreError('ROW_INVALID', 'The entry does not fit the schema of its sequence.', made.error)
      }
      const json = JSON.stringify(made.data)
      writer.put(this.#entryKey(last + 1), json)
      writer.put(this.#lastKey, String(last + 1))
      await writer.commit()
      return made.data
    })
  }

  get(seq: number): Promise<T | undefined> {
    return this.#backing.gate.run(() => {
      if (!Number.isSafeInteger(seq) || seq < 1) return undefined
      const text = this.#backing.database.getSync(this.#entryKey(seq))
      return text === undefined ? undefined : this.#decode(seq, text)
    })
  }

  async *scan(from = 1, to = Number.POSITIVE_INFINITY): AsyncIterable<T> {
    this.#backing.gate.check()
    const first = Math.max(1, Math.ceil(from))
    const end = Math.min(Math.ceil(to), (await this.last()) + 1)
    if (!(first < end)) return
    const range = { gte: this.#entryKey(first), lt: this.#entryKey(end) }
    let seq = first
    const texts = readingOn(this.#backing.gate, this.#backing.database.values(range))
    for await (const text of texts) yield this.#decode(seq++, text)
  }

  last(): Promise<number> {
    return this.#backing.gate.run(() => Number(this.#backing.database.getSync(this.#lastKey) ?? 0))
  }

  #entryKey(seq: number): string {
    return `s/${this.#path}!e${sortableInteger(seq)}`
  }

  /** A ledger with an entry missing is not a ledger, so unlike a listing this does not leave it out. */
  #decode(seq: number, text: string): T {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new StoreError('ROW_UNREADABLE', `Entry ${seq} of ${this.#path} cannot be read.`, cause)
    }
  }
}
