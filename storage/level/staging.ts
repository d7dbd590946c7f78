import { StoreError } from '../errors.ts'
import type { Collection, Sequence, SequenceEnd, Transaction } from '../index.ts'
import { checkId, isId } from '../names.ts'

/** Thrown where something has to be had first, after which the transaction is tried again. */
export const notYet = new Error('The transaction is tried again.')

/** Where a transaction reads, and how its rows are checked: `C` are its collections, `S` its sequences. */
export interface StagingSource<C, S> {
  /** Throws `QUERY_INVALID` for a part of another store, `STORE_CLOSED` for one that was erased. */
  collection(handle: unknown): C
  sequence(handle: unknown): S
  /** Throws `notYet`. */
  read(collection: C, id: string): unknown
  /** As far as it is known: what is not known yet is found out before anything is written. */
  isTaken(collection: C, id: string): boolean
  /** Throws `ROW_INVALID`. */
  parse(collection: C, row: unknown): unknown
  /** Called before a row is written that was perhaps not read. */
  prepare(collection: C, id: string): void
  /** Throws `notYet`. */
  end(sequence: S): SequenceEnd<unknown>
  /** Throws `ROW_INVALID`. */
  parseEntry(sequence: S, entry: unknown): unknown
}

/** Entries behind the end of a sequence. */
export interface StagedEntries {
  readonly after: SequenceEnd<unknown>
  readonly entries: unknown[]
}

/** What a transaction changes, kept in memory until all of it is known, and seen by its own reads. */
export class Staging<C, S> implements Transaction {
  /** The rows as they are in the end; undefined for those that are deleted. */
  readonly rows = new Map<C, Map<string, unknown>>()
  readonly entries = new Map<S, StagedEntries>()
  readonly #source: StagingSource<C, S>
  #refusal: { readonly error: unknown } | undefined
  #isOver = false

  constructor(source: StagingSource<C, S>) {
    this.#source = source
  }

  /** Why nothing of it may be written. */
  get refusal(): { readonly error: unknown } | undefined {
    return this.#refusal
  }

  /** Lets `write` say what changes; what it returned counts only when there is no refusal. */
  perform<R>(write: (transaction: Transaction) => R): R | undefined {
    try {
      const result = write(this)
      if (result instanceof Promise)
        throw misused('The function given to transaction may not be asynchronous.')
      return result
    } catch (error) {
      this.#refusal ??= { error }
      return undefined
    } finally {
      this.#isOver = true
    }
  }

  get<T>(collection: Collection<T>, id: string): T | undefined {
    return this.#step(() => this.#read(this.#source.collection(collection), id) as T | undefined)
  }

  put<T>(collection: Collection<T>, id: string, row: T): void {
    this.#step(() => this.#write(this.#source.collection(collection), id, row))
  }

  create<T>(collection: Collection<T>, id: string, row: T): void {
    this.#step(() => {
      const rows = this.#source.collection(collection)
      if (this.#isTaken(rows, id)) throw new StoreError('ROW_EXISTS', `There is a row ${id} already.`)
      this.#write(rows, id, row)
    })
  }

  update<T>(
    collection: Collection<T>,
    id: string,
    change: (row: T | undefined) => T | undefined,
  ): T | undefined {
    return this.#step(() => {
      const rows = this.#source.collection(collection)
      const next = change(this.#read(rows, id) as T | undefined)
      return next === undefined ? undefined : (structuredClone(this.#write(rows, id, next)) as T)
    })
  }

  delete<T>(collection: Collection<T>, id: string): void {
    this.#step(() => {
      const rows = this.#source.collection(collection)
      if (!isId(id)) return
      this.#source.prepare(rows, id)
      this.#keep(rows, id, undefined)
    })
  }

  require<T>(collection: Collection<T>, id: string, test: (row: T | undefined) => boolean): void {
    this.#step(() => {
      const row = this.#read(this.#source.collection(collection), id) as T | undefined
      if (!test(row))
        throw new StoreError(
          'REQUIREMENT_FAILED',
          `Row ${id} does not meet the requirement of the transaction.`,
        )
    })
  }

  append<T>(sequence: Sequence<T>, make: (previous: T | undefined, seq: number) => T): T {
    return this.#step(() => {
      const at = this.#source.sequence(sequence)
      const { seq, entry } = this.#end(at)
      const made = this.#source.parseEntry(at, make(entry as T | undefined, seq + 1))
      const staged = this.entries.get(at) ?? { after: { seq, entry }, entries: [] }
      staged.entries.push(made)
      this.entries.set(at, staged)
      return structuredClone(made) as T
    })
  }

  end<T>(sequence: Sequence<T>): SequenceEnd<T> {
    return this.#step(() => this.#end(this.#source.sequence(sequence)) as SequenceEnd<T>)
  }

  /** What a step throws refuses all of them. */
  #step<R>(step: () => R): R {
    if (this.#isOver) throw misused('This transaction is over: it lasts as long as its function runs.')
    try {
      return step()
    } catch (error) {
      this.#refusal ??= { error }
      throw error
    }
  }

  /** Rows of its own are copied, so that what is done to one that was read is no change. */
  #read(collection: C, id: string): unknown {
    const own = this.rows.get(collection)
    if (own?.has(id)) return structuredClone(own.get(id))
    return isId(id) ? this.#source.read(collection, id) : undefined
  }

  #isTaken(collection: C, id: string): boolean {
    checkId(id)
    const own = this.rows.get(collection)
    return own?.has(id) ? own.get(id) !== undefined : this.#source.isTaken(collection, id)
  }

  #write(collection: C, id: string, row: unknown): unknown {
    checkId(id)
    const parsed = this.#source.parse(collection, row)
    this.#source.prepare(collection, id)
    this.#keep(collection, id, parsed)
    return parsed
  }

  #keep(collection: C, id: string, row: unknown): void {
    const own = this.rows.get(collection) ?? new Map<string, unknown>()
    this.rows.set(collection, own.set(id, row))
  }

  #end(sequence: S): SequenceEnd<unknown> {
    const staged = this.entries.get(sequence)
    if (!staged) return this.#source.end(sequence)
    const { after, entries } = staged
    return { seq: after.seq + entries.length, entry: structuredClone(entries.at(-1)) }
  }
}

const misused = (message: string): StoreError => new StoreError('QUERY_INVALID', message)

/** What a handle of another store, or of no store, is refused with. */
export const foreign = (): StoreError => misused('This part belongs to another store than the transaction.')
