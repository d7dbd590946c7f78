import type { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { Sequence, SequenceEnd, SequenceStatus } from '../index.ts'
import type { Backing } from './backing.ts'
import { EntryQueue, type Make } from './entry-queue.ts'
import { sortableInteger } from './keys.ts'
import { noted, parseEnd } from './notes.ts'
import { readingOn } from './reading-on.ts'

/** How long entries of a queue wait for more of their kind, in milliseconds. */
const flushMs = 100
/** How long entries of a queue are made in one turn, in milliseconds. */
const sliceMs = 2
const waiting = 'Queued entries cannot be written. They wait, and are written when the disk accepts them.'
const dropped =
  'A queued entry could not be made, or did not fit the schema of its sequence, and was dropped.'

/**
 * A sequence in LevelDB. The number of the last entry lies beside the entries and changes in the same batch; an
 * append reads it, makes the entry and joins the waiting group within one turn, so none can come in between.
 */
export class LevelSequence<T> implements Sequence<T> {
  readonly backing: Backing
  readonly #path: string
  readonly #lastKey: string
  readonly #queue: EntryQueue<T>
  #schema: z.ZodType<T>

  constructor(backing: Backing, path: string, schema: z.ZodType<T>) {
    this.backing = backing
    this.#queue = new EntryQueue({
      flushMs,
      write: (makes) => this.#writeQueued(makes),
      written: () => backing.writer.sync(),
      isOpen: () => backing.gate.isOpen,
      failed: () => backing.report({ code: 'STORE_FAILED', part: path, message: waiting }),
    })
    this.#path = path
    this.#lastKey = `s/${path}!n`
    this.#schema = schema
  }

  /** Takes over the schema of a handle that was made later. */
  reshape(schema: z.ZodType<T>): void {
    this.#schema = schema
  }

  append(make: (previous: T | undefined, seq: number) => T): Promise<T> {
    return this.backing.gate.run(async () => {
      const { seq, entry } = this.end()
      const made = this.parse(make(entry, seq + 1))
      this.write(seq, [made])
      await this.backing.writer.commit()
      return made
    })
  }

  queue(make: Make<T>): boolean {
    return this.#queue.push(make)
  }

  flush(): Promise<void> {
    return this.backing.gate.run(async () => {
      await this.#queue.drain()
      await this.backing.writer.sync()
    })
  }

  status(): SequenceStatus {
    return this.#queue.status
  }

  /** Writes what waits, without an fsync. */
  writeQueue(): Promise<void> {
    return this.#queue.drain()
  }

  /** Writes what waits and leaves the disk alone from then on. The gate must be closed. */
  async close(): Promise<void> {
    this.#queue.rest()
    await this.#queue.drain()
  }

  get(seq: number): Promise<T | undefined> {
    return this.#read(() => {
      const text = this.backing.database.getSync(this.#entryKey(seq))
      return text === undefined ? undefined : this.#decode(seq, text)
    })
  }

  async *scan(from = 1, to = Number.POSITIVE_INFINITY): AsyncIterable<T> {
    const first = Math.max(1, Math.ceil(from))
    const end = Math.min(Math.ceil(to), (await this.last()) + 1)
    if (!(first < end)) return
    const range = { gte: this.#entryKey(first), lt: this.#entryKey(end) }
    let seq = first
    const texts = readingOn(this.backing.gate, this.backing.database.values(range))
    for await (const text of texts) yield this.#decode(seq++, text)
  }

  last(): Promise<number> {
    return this.#read(() => this.#lastOf(this.backing.database.getSync(this.#lastKey)))
  }

  /** Where it ends in this turn, on disk or about to be. */
  end(): SequenceEnd<T> {
    const seq = this.#lastOf(this.backing.writer.read(this.#lastKey))
    const text = this.backing.writer.read(this.#entryKey(seq))
    return { seq, entry: text === undefined ? undefined : this.#decode(seq, text) }
  }

  /** Throws `ROW_INVALID`. */
  parse(entry: unknown): T {
    const parsed = this.#schema.safeParse(entry)
    if (parsed.success) return parsed.data
    throw new StoreError('ROW_INVALID', 'The entry does not fit the schema of its sequence.', parsed.error)
  }

  /** Has entries written behind this one, with the group that is waiting. */
  write(after: number, entries: readonly T[]): void {
    const texts = entries.map((entry) => JSON.stringify(entry))
    for (const [at, text] of texts.entries()) this.backing.writer.put(this.#entryKey(after + 1 + at), text)
    this.backing.writer.put(this.#lastKey, String(after + entries.length))
  }

  /** Resolves when no new entry waits any more. */
  settled(): Promise<void> {
    return this.backing.writer.settled(this.#lastKey)
  }

  /** Reads when what waits is written; while the disk refuses that, what is there. */
  #read<R>(read: () => R): Promise<R> {
    return this.backing.gate.run(async () => {
      try {
        await this.#queue.drain()
      } catch (error) {
        if (!this.backing.writer.failure) throw error
      }
      return read()
    })
  }

  /** Makes entries, for a short while, and has them written. One that cannot be made, or does not fit, is dropped. */
  async #writeQueued(makes: readonly Make<T>[]): Promise<number> {
    const { writer } = this.backing
    if (writer.failure) throw writer.failure
    const until = performance.now() + sliceMs
    const before = this.end()
    let { seq, entry } = before
    let done = 0
    for (const make of makes) {
      if (done > 0 && performance.now() > until) break
      done += 1
      const text = this.#made(make, entry, seq + 1)
      if (text === undefined) continue
      seq += 1
      entry = JSON.parse(text)
      writer.put(this.#entryKey(seq), text)
    }
    if (seq === before.seq) return done
    writer.put(this.#lastKey, String(seq))
    await writer.commit(false)
    return done
  }

  #made(make: Make<T>, previous: T | undefined, seq: number): string | undefined {
    try {
      return JSON.stringify(this.parse(make(previous, seq)))
    } catch {
      this.#queue.drop()
      this.backing.report({ code: 'ROW_INVALID', part: this.#path, message: dropped })
      return undefined
    }
  }

  #lastOf(text: string | undefined): number {
    return text === undefined ? 0 : noted(this.#lastKey, text, parseEnd)
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
