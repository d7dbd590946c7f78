import type { Collection } from './collection.ts'
import type { Sequence } from './index.ts'

/** The end of a sequence: the number of its last entry, 0 when there is none, and that entry. */
export interface SequenceEnd<T> {
  readonly seq: number
  readonly entry: T | undefined
}

/**
 * Changes of collections and sequences of one store that are made together or not at all. What is read here is what is
 * stored, what waits to be written, and what this transaction has changed before. Whatever one of these methods throws, and
 * whatever the function given to `Store.transaction` throws, refuses the transaction, also when the function goes on: then
 * nothing of it is written.
 */
export interface Transaction {
  /** A copy of the row. Throws `ROW_UNREADABLE` when what is stored cannot be read. */
  get<T>(collection: Collection<T>, id: string): T | undefined
  put<T>(collection: Collection<T>, id: string, row: T): void
  /** Refuses the transaction with `ROW_EXISTS` when the id is taken. */
  create<T>(collection: Collection<T>, id: string, row: T): void
  /** Writes what `change` returns, and returns what was written; the row stays as it is when that is `undefined`. */
  update<T>(
    collection: Collection<T>,
    id: string,
    change: (row: T | undefined) => T | undefined,
  ): T | undefined
  delete<T>(collection: Collection<T>, id: string): void
  /** Refuses the transaction with `REQUIREMENT_FAILED` unless `test` is true of the row. */
  require<T>(collection: Collection<T>, id: string, test: (row: T | undefined) => boolean): void
  append<T>(sequence: Sequence<T>, make: (previous: T | undefined, seq: number) => T): T
  end<T>(sequence: Sequence<T>): SequenceEnd<T>
}
