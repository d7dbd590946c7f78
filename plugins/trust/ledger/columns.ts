import type { LedgerDraft, LedgerEntry, LedgerQuery } from '#kernel'

/** What an entry is found by. */
export interface Found {
  readonly event_type: string
  readonly actor: string
  readonly resource: string | undefined
}

/** One value for each entry: its place in a list without repetitions. */
interface Column {
  readonly values: readonly (string | null)[]
  readonly of: readonly number[]
}

/** What entries that follow each other are found by. Many entries share few values. */
export type Columns = Readonly<Record<keyof Found, Column>>

export const foundBy = ({ event_type, actor, resource }: LedgerDraft | LedgerEntry): Found => ({
  event_type,
  actor: actor.id,
  resource: resource?.id,
})

/** Columns that grow row by row. */
export class ColumnsBuilder {
  readonly #columns = {
    event_type: new ColumnBuilder(),
    actor: new ColumnBuilder(),
    resource: new ColumnBuilder(),
  }

  add({ event_type, actor, resource }: Found): void {
    this.#columns.event_type.add(event_type)
    this.#columns.actor.add(actor)
    this.#columns.resource.add(resource ?? null)
  }

  get columns(): Columns {
    const { event_type, actor, resource } = this.#columns
    return { event_type: event_type.column, actor: actor.column, resource: resource.column }
  }
}

class ColumnBuilder {
  readonly #places = new Map<string | null, number>()
  readonly #of: number[] = []

  add(value: string | null): void {
    let place = this.#places.get(value)
    if (place === undefined) {
      place = this.#places.size
      this.#places.set(value, place)
    }
    this.#of.push(place)
  }

  get column(): Column {
    return { values: [...this.#places.keys()], of: this.#of }
  }
}

export function columnsOf(rows: Iterable<Found>): Columns {
  const builder = new ColumnsBuilder()
  for (const row of rows) builder.add(row)
  return builder.columns
}

export function* rowsOf({ event_type, actor, resource }: Columns): Generator<Found> {
  for (let row = 0; row < event_type.of.length; row++)
    yield {
      event_type: valueAt(event_type, row)!,
      actor: valueAt(actor, row)!,
      resource: valueAt(resource, row),
    }
}

const valueAt = ({ values, of }: Column, row: number): string | undefined => values[of[row]!] ?? undefined

/** The rows, by their places from 0, that meet a query's conditions on what entries are found by. */
export function rowsWhere(
  columns: Columns,
  { eventType, actor, resource }: Pick<LedgerQuery, 'eventType' | 'actor' | 'resource'>,
): number[] {
  const wanted = [
    [columns.event_type, eventType],
    [columns.actor, actor],
    [columns.resource, resource],
  ] as const
  const conditions: [of: readonly number[], place: number][] = []
  for (const [{ values, of }, value] of wanted) {
    if (value === undefined) continue
    const place = values.indexOf(value)
    if (place < 0) return []
    conditions.push([of, place])
  }
  const rows: number[] = []
  for (let row = 0; row < columns.event_type.of.length; row++)
    if (conditions.every(([of, place]) => of[row] === place)) rows.push(row)
  return rows
}
