import type { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { Sequence, SequenceStatus } from '../index.ts'
import { EntryQueue, type Make } from '../level/entry-queue.ts'
import { type GuestParts, isRefusal, readOn } from './guest-part.ts'

interface Waiting<T> {
  readonly make: (previous: T | undefined, seq: number) => T
  readonly done: PromiseWithResolvers<T>
}

/** A sequence as a thread has it that has not the store. Entries that wait are made together, and cross together. */
export class GuestSequence<T> implements Sequence<T> {
  readonly parts: GuestParts
  readonly #queue: EntryQueue<T>
  #schema: z.ZodType<T>
  #waiting: Waiting<T>[] = []
  #appending: Promise<void> | undefined

  constructor(schema: z.ZodType<T>, parts: GuestParts) {
    this.#schema = schema
    this.parts = parts
    this.#queue = new EntryQueue({
      flushMs: parts.crossMs,
      write: (makes) => this.#crossQueued(makes),
      // Entries appended on the other side are fsynced.
      written: async () => {},
      isOpen: () => parts.gate.isOpen,
      failed: parts.failed,
    })
  }

  /** Takes over the schema of a handle that was made later. */
  reshape(schema: z.ZodType<T>): void {
    this.#schema = schema
  }

  /** `make` is called again when another thread has appended in between. */
  append(make: (previous: T | undefined, seq: number) => T): Promise<T> {
    return this.parts.gate.run(() => {
      const done = Promise.withResolvers<T>()
      this.#waiting.push({ make, done })
      this.#appending ??= this.#appendAll()
      return done.promise
    })
  }

  queue(make: Make<T>): boolean {
    return this.#queue.push(make)
  }

  flush(): Promise<void> {
    return this.parts.gate.run(() => this.#queue.drain())
  }

  status(): SequenceStatus {
    return this.#queue.status
  }

  /** Sends what waits; resolves when it is there. */
  cross(): Promise<void> {
    return this.#queue.drain()
  }

  get(seq: number): Promise<T | undefined> {
    return this.#read('get', seq) as Promise<T | undefined>
  }

  async *scan(from?: number, to?: number): AsyncGenerator<T> {
    await this.parts.gate.run(() => this.#crossed())
    yield* readOn(this.parts, from, to) as AsyncGenerator<T>
  }

  last(): Promise<number> {
    return this.#read('last') as Promise<number>
  }

  #read(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.parts.gate.run(async () => {
      await this.#crossed()
      return this.parts.ask(method, ...args)
    })
  }

  /** What is refused waits here. */
  async #crossed(): Promise<void> {
    await this.#queue.drain().catch((error) => {
      if (!isRefusal(error)) throw error
    })
  }

  /** Appends them all; those that cannot be made, or do not fit, are dropped. */
  async #crossQueued(makes: readonly Make<T>[]): Promise<number> {
    const waiting = makes.map((make) => ({ make, done: Promise.withResolvers<T>() }))
    this.#waiting.push(...waiting)
    this.#appending ??= this.#appendAll()
    const results = await Promise.allSettled(waiting.map(({ done }) => done.promise))
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    const retried = refused.find((error) => isRefusal(error) || !this.parts.gate.isOpen)
    if (retried) throw retried
    for (const error of refused) {
      this.#queue.drop()
      this.parts.failed(error)
    }
    return makes.length
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
