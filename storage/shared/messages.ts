import type { Change, OlderRow, SequenceEnd } from '../index.ts'
import type { RowFacts } from '../level/block.ts'
import type { Sum } from '../level/queued-row.ts'
import type { CheckedRow } from './checked-row.ts'

/** A part of the store that a thread opens, under a number. */
export interface OpenPart {
  readonly part: number
  readonly kind: 'collection' | 'log' | 'sequence' | 'counters'
  /** The namespaces it is in. */
  readonly path: readonly string[]
  readonly name: string
  /** Of a collection. */
  readonly version?: number | undefined
  readonly indexes?: readonly string[]
  /** Of a log. */
  readonly names?: LogNames
}

/** The names of what a log's rows are found by, in the order of their values. */
export interface LogNames {
  readonly fields: readonly string[]
  readonly numbers: readonly string[]
}

/** Something that is done with a part. */
export interface PartCall {
  readonly part: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** A row that a transaction of a thread has read, or has to read: then it is not known. */
export interface ReadRow {
  readonly part: number
  readonly id: string
  readonly isKnown: boolean
  readonly row: unknown
}

/** The end of a sequence that it has read, or has to read. */
export interface ReadEnd {
  readonly part: number
  readonly isKnown: boolean
  readonly end: SequenceEnd<unknown>
}

/** What a transaction read in a thread, and what it changes if all of that still is so; else nothing. */
export interface CrossingTransaction {
  readonly rows: readonly ReadRow[]
  readonly ends: readonly ReadEnd[]
  /** Without a row, it is deleted. */
  readonly writes: readonly { readonly part: number; readonly id: string; readonly checked?: CheckedRow }[]
  /** Entries behind the ends that were read. */
  readonly entries: readonly { readonly part: number; readonly entries: readonly unknown[] }[]
}

/** What it read, as all of that is at one moment; undefined when the transaction is done. */
export interface Refreshed {
  readonly rows: readonly unknown[]
  readonly ends: readonly SequenceEnd<unknown>[]
}

/** What a thread asks of its parts of the store. */
export type PartAsk =
  | { readonly open: OpenPart }
  | { readonly call: PartCall }
  | { readonly transact: CrossingTransaction }
  | { readonly flush: readonly string[] }

/** The requests of a thread to the one that has the store. */
export type StoreAsk =
  | PartAsk
  | { readonly contents: string }
  | { readonly erase: string }
  | { readonly compact: true }
  | { readonly copyTo: string }

/** Rows of a listing that is read on: some of them, and whether there are more. */
export interface Batch {
  readonly cursor: number
  readonly items: readonly unknown[]
  readonly isOver: boolean
}

/** A row of a log as it crosses: text, with what the functions of its log say of it. */
export interface CrossingRow {
  readonly json: string
  readonly body: string | undefined
  readonly facts: RowFacts
  readonly sums: readonly Sum[]
}

/** What was done to a counter: an amount was added to it or set, or it or all with a prefix were forgotten. */
export type CounterStep = readonly [kind: 'add' | 'set' | 'delete' | 'clear', name: string, amount: number]

/** The messages to a thread about a part: a write, or rows that the thread's functions must answer for. */
export type PartNews = { readonly part: number } & (
  | { readonly changed: Change<unknown> }
  | { readonly older: readonly OlderRow[] }
  | { readonly counted: readonly CounterStep[] }
  | { readonly index: readonly unknown[] }
  | { readonly erasing: number; readonly rows: readonly unknown[] }
)

/** The messages to a thread about several parts: it must send the queues below a path, or a prefix is erased. */
export type StoreNews = PartNews | { readonly wanted: string } | { readonly erased: string }

/** What is answered to `index`: nothing for a row of which a function threw. */
export interface Indexed extends LogNames {
  readonly facts: readonly (RowFacts | undefined)[]
}

/** Answered by the thread that has the store. */
export type StoreMethods = { store(ask: StoreAsk): unknown }

/** Answered by a thread that uses it. */
export type StoreNewsMethods = { news(news: StoreNews): unknown }
