import type { OlderRow } from '../../../../storage/index.ts'

/** A part of the store that a module in a worker opens, under a number. */
export interface OpenPart {
  readonly part: number
  readonly kind: 'collection' | 'sequence' | 'counters'
  /** The namespaces it is in. */
  readonly path: readonly string[]
  readonly name: string
  /** Of a collection. */
  readonly version?: number | undefined
  readonly indexes?: readonly string[]
}

/** Something that is done with a part. */
export interface PartCall {
  readonly part: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** Rows of a listing that is read on: some of them, and whether there are more. */
export interface Batch {
  readonly cursor: number
  readonly items: readonly unknown[]
  readonly isOver: boolean
}

/** What the worker is told of a part: a row that was written, or rows that its functions have to bring up. */
export type PartNews = { readonly part: number } & (
  | { readonly changed: { readonly id: string; readonly row: unknown } }
  | { readonly older: readonly OlderRow[] }
)
