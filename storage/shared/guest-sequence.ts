import type { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { Sequence } from '../index.ts'
import { type GuestParts, readOn } from './guest-part.ts'

interface Waiting<T> {
  readonly make: (previous: T | undefined, seq: number) => T
  readonly done: PromiseWithResolvers<T>
}

/** A sequence as a thread has it that has not the store. Entries that wait are made together, and cross together. */
export class GuestSequence<T> implements Sequence<T> {
  readonly parts: GuestParts
  #schema: z.ZodType<T>
  #waiting: Waiting<T>[] = []
  #appending: Promise<void> | undefined

  constructor(schema: z.ZodType<T>, parts: GuestParts) {
    this.#schema = schema
    this.parts = parts
  }

  /** Takes over the schema of a handle that was made later. */
  reshape(schema: z.ZodType<T>): void {
    this.#schema = schema
  }

  /** `make` is called again when somebody else has appended in between. */
  append(make: (previous: T | undefined, seq: number) => T): Promise<T> {
    return this.parts.gate.run(() => {
      const done = Promise.withResolvers<T>()
      this.#waiting.push({ make, done })
      this.#appending ??= this.#appendAll()
      return done.promise
    })
  }

  get(seq: number): Promise<T | undefined> {
    return this.parts.gate.run(() => this.parts.ask('get', seq)) as Promise<T | undefined>
  }

  scan(from?: number, to?: number): AsyncIterable<T> {
    return readOn(this.parts, from, to) as AsyncIterable<T>
  }

  last(): Promise<number> {
    return this.parts.gate.run(() => this.parts.ask('last')) as Promise<number>
  }

  async #appendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting
      this.#waiting = []
      try {
        await this.#append(waiting)
      } catch (error) {
        for (const { done } of waiting) done.reject(error)
      }
    }
    this.#appending = undefined
  }

  async #append(waiting: readonly Waiting<T>[]): Promise<void> {
    for (;;) {
      const { previous, seq } = (await this.parts.ask('peek')) as { previous: T | undefined; seq: number }
      const made: [Waiting<T>, T][] = []
      const refused: [Waiting<T>, unknown][] = []
      for (const one of waiting) {
        try {
          made.push([one, this.#made(one, made.at(-1)?.[1] ?? previous, seq + made.length)])
        } catch (error) {
          refused.push([one, error])
        }
      }
      const entries = made.map(([, entry]) => entry)
      if (entries.length > 0 && !(await this.parts.ask('append', seq, entries))) continue
      for (const [{ done }, error] of refused) done.reject(error)
      for (const [{ done }, entry] of made) done.resolve(entry)
      return
    }
  }

  #made({ make }: Waiting<T>, previous: T | undefined, seq: number): T {
    // What `make` does to the entry it is given must not pass for what is stored.
    return this.parse(make(structuredClone(previous), seq))
  }

  /** Throws `ROW_INVALID`. */
  parse(entry: unknown): T {
    const parsed = this.#schema.safeParse(entry)
    if (parsed.success) return parsed.data
    throw new StoreError('ROW_INVALID', 'The entry does not fit the schema of its sequence.', parsed.error)
  }
}
