import type { CallSource, RowLog } from '#kernel'
import type { TraceRow } from './row.ts'
import { Tally, type Totals, timedTotalsOf, totalsOf } from './tally.ts'
import { createTeller } from './told-apart.ts'

/**
 * The roll-up of traces. Each trace adds to cells of two scopes, all users (`*`) and its own user, so that every chart
 * reads a short range of cells, for users and admins alike. A trace that a client reported adds to the cells of its user only, as
 * the gateway has not checked it, and to `manual`, where both scopes count the reported traces:
 *
 * - `m/<hour>/<scope>/<minute>` and `h/<scope>/<hour>`: totals with latencies, for series;
 * - `d/<scope>/total/<day>/`: the same for a day;
 * - `d/<scope>/<dimension>/<day>/<value>`: totals by provider, model, project and (all users) user; of one user's models and
 *   projects of a day, the first 200 have cells of their own;
 * - `d/<scope>/manual/<day>/`: totals of reported traces.
 *
 * Calls that the gateway itself starts have separate scopes, `*~replay` and `<user>~replay` by their source, so that figures have
 * them only on request.
 *
 * Hours, minutes and days are counted from the epoch, in UTC.
 */
export type Dimension = 'total' | 'provider' | 'model' | 'project' | 'user' | 'manual'

export const everybody = '*'

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** Number of the UTC day. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

/** `2026-11-21` for the number of a day. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** The range of the cells by the minute in whole hours before a time. */
export const minutesBefore = (ms: number): [from: string, to: string] => [
  'm/',
  `m/${Math.floor(ms / hourMs)}/`,
]

/** The cells of traces that are alike, with and without latencies. */
interface CellNames {
  readonly timed: readonly string[]
  readonly plain: readonly string[]
}

/** Names that are kept: those of earlier minutes are of no use. */
const mostNames = 1000

/**
 * Adds traces to their cells. Names are kept for traces of the same minute, user, model and so on: making and hashing
 * them anew would cost more than adding.
 */
export function createRollUp(): (
  row: TraceRow,
  add: (cells: readonly string[], totals: Totals) => void,
) => void {
  const known = new Map<string, CellNames>()
  const tellApart = createTeller()
  return (row, add) => {
    const minute = Math.floor(row.at / minuteMs)
    const { user_id = '', provider = '', project, source } = row
    const isTold = source === 'manual'
    const apart = isTold || source === 'proxy' ? '' : suffixOf(source.split(':')[0])
    const model = row.provider === undefined && !row.cache ? '' : row.model
    const key = `${minute}\n${user_id}\n${provider}\n${model}\n${project}\n${isTold}${apart}`
    let names = known.get(key)
    if (!names) {
      if (known.size === mostNames) known.clear()
      const holder = `${user_id}\n${dayOf(row.at)}`
      const values = {
        provider: tellApart(holder, 'provider', provider),
        model: tellApart(holder, 'model', model),
        project: tellApart(holder, 'project', project),
      }
      names = namesOf(minute, row.user_id, values, isTold, apart)
      known.set(key, names)
    }
    add(names.timed, timedTotalsOf(row))
    add(names.plain, totalsOf(row))
  }
}

function namesOf(
  minute: number,
  user: string | undefined,
  values: Record<string, string>,
  isTold: boolean,
  apart: string,
): CellNames {
  const hour = Math.floor((minute * minuteMs) / hourMs)
  const day = dayOf(minute * minuteMs)
  const all = everybody + apart
  const own = user === undefined ? [] : [user + apart]
  const scopes = isTold ? own : [all, ...own]
  const plain = scopes.flatMap((scope) =>
    Object.entries(values).map(([dimension, value]) => `d/${scope}/${dimension}/${day}/${value}`),
  )
  if (isTold) for (const scope of [everybody, ...own]) plain.push(`d/${scope}/manual/${day}/`)
  else if (user !== undefined) plain.push(`d/${all}/user/${day}/${user}`)
  return {
    timed: scopes.flatMap((scope) => [
      `m/${hour}/${scope}/${minute}`,
      `h/${scope}/${hour}`,
      `d/${scope}/total/${day}/`,
    ]),
    plain,
  }
}

/** What tells scopes of a source apart; clients' own calls have none. */
const suffixOf = (source: string | undefined): string => (source === undefined ? '' : `~${source}`)

/** Reads the roll-up for one scope: a user's id, or all users; clients' own calls, or those of another source. */
export class Cells {
  readonly #log: RowLog<TraceRow>
  readonly #scope: string
  /** Cells that could not be read and are in no sum that was asked for. */
  unreadable = 0

  constructor(log: RowLog<TraceRow>, scope: string, source?: CallSource) {
    this.#log = log
    this.#scope = scope + suffixOf(source)
  }

  /** Sums by value of a dimension, over the days from one to another, both included. */
  async byValue(dimension: Dimension, fromDay: number, toDay: number): Promise<Map<string, Tally>> {
    const sums = new Map<string, Tally>()
    const prefix = `d/${this.#scope}/${dimension}/`
    for (const [cell, totals] of await this.#read(prefix + fromDay, prefix + (toDay + 1))) {
      sumUp(sums, cell.slice(cell.indexOf('/', prefix.length) + 1), totals)
    }
    return sums
  }

  /** Totals by day number, over the days from one to another, both included. */
  async byDay(fromDay: number, toDay: number): Promise<Map<number, Tally>> {
    const sums = new Map<number, Tally>()
    const prefix = `d/${this.#scope}/total/`
    for (const [cell, totals] of await this.#read(prefix + fromDay, prefix + (toDay + 1))) {
      sumUp(sums, Number.parseInt(cell.slice(prefix.length), 10), totals)
    }
    return sums
  }

  /** Totals by the start of each bucket in milliseconds; buckets are whole minutes or whole hours. */
  async series(fromMs: number, toMs: number, bucketMs: number): Promise<Map<number, Tally>> {
    const sums = new Map<number, Tally>()
    const unit = bucketMs % hourMs === 0 ? hourMs : minuteMs
    for (const [from, to] of this.#ranges(fromMs, toMs, unit)) {
      for (const [cell, totals] of await this.#read(from, to)) {
        const at = Number(cell.slice(cell.lastIndexOf('/') + 1)) * unit
        sumUp(sums, Math.floor(at / bucketMs) * bucketMs, totals)
      }
    }
    return sums
  }

  async #read(from: string, to: string) {
    const { cells, unreadable = 0 } = await this.#log.totals(from, to)
    this.unreadable += unreadable
    return cells
  }

  #ranges(fromMs: number, toMs: number, unit: number): [from: string, to: string][] {
    const from = Math.floor(fromMs / unit)
    const to = Math.ceil(toMs / unit)
    if (unit === hourMs) return [[`h/${this.#scope}/${from}`, `h/${this.#scope}/${to}`]]
    const firstHour = Math.floor(fromMs / hourMs)
    const lastHour = Math.floor((toMs - 1) / hourMs)
    return Array.from({ length: lastHour - firstHour + 1 }, (_, i) => {
      const prefix = `m/${firstHour + i}/${this.#scope}/`
      return [prefix + from, prefix + to]
    })
  }
}

function sumUp<K>(sums: Map<K, Tally>, key: K, totals: Totals): void {
  const tally = sums.get(key) ?? new Tally()
  sums.set(key, tally.add(totals))
}
