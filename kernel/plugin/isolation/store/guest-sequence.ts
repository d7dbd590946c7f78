import type { z } from 'zod'
import { type Sequence, StoreError } from '../../../../storage/index.ts'
import { type Ask, readOn } from './guest-collection.ts'

/** A sequence as a module in a worker has it. */
export class GuestSequence<T> implements Sequence<T> {
  readonly #ask: Ask
  #schema: z.ZodType<T>

  constructor(schema: z.ZodType<T>, ask: Ask) {
    this.#schema = schema
    this.#ask = ask
  }

  /** Takes over the schema of a handle that was made later. */
  reshape(schema: z.ZodType<T>): void {
    this.#schema = schema
  }

  /** `make` is called again when somebody else has appended in between. */
  async append(make: (previous: T | undefined, seq: number) => T): Promise<T> {
    for (;;) {
      const { previous, seq } = (await this.#ask('peek')) as { previous: T | undefined; seq: number }
      const made = this.#schema.safeParse(make(previous, seq))
      if (!made.success)
        throw new StoreError('ROW_INVALID', 'The entry does not fit the schema of its sequence.', made.error)
      if (await this.#ask('append', seq, made.data)) return made.data
    }
  }

  async get(seq: number): Promise<T | undefined> {
    return (await this.#ask('get', seq)) as T | undefined
  }

  scan(from?: number, to?: number): AsyncIterable<T> {
    return readOn(this.#ask, from, to) as AsyncIterable<T>
  }

  async last(): Promise<number> {
    return (await this.#ask('last')) as number
  }
}
