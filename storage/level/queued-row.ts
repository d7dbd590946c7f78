import type { LogOptions } from '../index.ts'
import { factsOf, type RowFacts } from './block.ts'

/** Totals, and the cells they are added to. */
export type Sum = readonly [cells: readonly string[], totals: Readonly<Record<string, number>>]

/**
 * A row that waits to be written. It is text from the beginning: what it was made of is garbage at once, while it is
 * young, and what waits is little for the collector to walk through.
 */
export interface QueuedRow {
  readonly json: string
  readonly body: string | undefined
  readonly facts: RowFacts
  readonly sums: readonly Sum[]
  /** Whose functions made the facts. */
  readonly options: FactNames
  /** Whether those functions are somewhere else. */
  readonly isForeign?: true
}

/** The names that the values of facts belong to, in their order. */
export interface FactNames {
  readonly fields?: Readonly<Record<string, unknown>>
  readonly numbers?: Readonly<Record<string, unknown>>
}

/** Throws for a row that is not JSON or that one of the log's functions refuses. */
export function queuedRow<T>(options: LogOptions<T>, row: T, body: string | undefined): QueuedRow {
  const json: string | undefined = JSON.stringify(row)
  if (json === undefined) throw new TypeError('A log row must be JSON.')
  const facts = factsOf(options, row)
  const sums: Sum[] = []
  options.rollup?.(row, (cells, totals) => sums.push([cells, totals]))
  return { json, body, facts, sums, options }
}

/**
 * What the index takes from a row, by these options: they may be newer than the row. The facts of one that comes from
 * where its functions are go by their names; what they do not name is not there.
 */
export function factsBy<T>(options: LogOptions<T>, row: QueuedRow): RowFacts {
  if (row.options === options) return row.facts
  if (row.isForeign) return factsByName(options, row.options, row.facts)
  return factsOf(options, JSON.parse(row.json) as T)
}

/** The facts that some names stand for, in the order of others. */
export function factsByName(wanted: FactNames, given: FactNames, facts: RowFacts): RowFacts {
  const pick = <V>(of: 'fields' | 'numbers', values: readonly V[], missing: V): V[] => {
    const names = Object.keys(given[of] ?? {})
    return Object.keys(wanted[of] ?? {}).map((name) => values[names.indexOf(name)] ?? missing)
  }
  const values = pick<RowFacts['values'][number]>('fields', facts.values, undefined)
  return { ...facts, values, numbers: pick('numbers', facts.numbers, Number.NaN) }
}

/** Size of its text, in UTF-16 units. */
export const sizeOf = ({ json, body }: Pick<QueuedRow, 'json' | 'body'>): number =>
  json.length + (body?.length ?? 0)
