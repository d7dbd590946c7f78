import type { LogOptions } from '../index.ts'
import { factsOf, type RowFacts } from './block.ts'

/** Totals, and the cells they are added to. */
export type Sum = readonly [cells: readonly string[], totals: Readonly<Record<string, number>>]

/**
 * A row that waits to be written. It is text from the beginning: what it was made of is garbage at once, while it is
 * young, and what waits is little for the collector to walk through.
 */
export interface QueuedRow<T> {
  readonly json: string
  readonly body: string | undefined
  readonly facts: RowFacts
  readonly sums: readonly Sum[]
  /** Whose functions made the facts. */
  readonly options: LogOptions<T>
}

/** Throws for a row that is not JSON or that one of the log's functions refuses. */
export function queuedRow<T>(options: LogOptions<T>, row: T, body: string | undefined): QueuedRow<T> {
  const json: string | undefined = JSON.stringify(row)
  if (json === undefined) throw new TypeError('A log row must be JSON.')
  const facts = factsOf(options, row)
  const sums: Sum[] = []
  options.rollup?.(row, (cells, totals) => sums.push([cells, totals]))
  return { json, body, facts, sums, options }
}

/** What the index takes from a row, by these options: they may be newer than the row. */
export function factsBy<T>(options: LogOptions<T>, row: QueuedRow<T>): RowFacts {
  return row.options === options ? row.facts : factsOf(options, JSON.parse(row.json) as T)
}

/** Size of its text, in UTF-16 units. */
export const sizeOf = ({ json, body }: Pick<QueuedRow<never>, 'json' | 'body'>): number =>
  json.length + (body?.length ?? 0)
