import { expect } from 'vitest'
import type { IndexValue, Log, LogOptions, LogQuery } from '../index.ts'
import { collect } from './harness.ts'

export interface Call {
  readonly id: string
  readonly at: number
  readonly model: string
  readonly status: number
  readonly cached?: boolean
  readonly tags: readonly string[]
}

export const callOptions = {
  id: (call) => call.id,
  time: (call) => call.at,
  fields: {
    model: (call) => call.model,
    status: (call) => call.status,
    cached: (call) => call.cached,
    tag: (call) => call.tags,
  },
  numbers: { at: (call) => call.at, code: (call) => (call.cached ? undefined : call.status) },
  rollup(call, add) {
    const hour = String(Math.floor(call.at / 4)).padStart(4, '0')
    add([hour], { calls: 1, status: Math.ceil(call.status) })
    add([`${hour}|${call.model}`], { calls: 1 })
  },
} satisfies LogOptions<Call>

/** Names that are prefixes of one another, hold separators, look like a number, or are none. */
export const models = ['gpt', 'gpt-mini', 'claude "3"', 'modèle\n', '200', '']

/** The n-th of many calls, which are alike and differ. */
export const callOf = (n: number): Call => ({
  id: `call${n}`,
  at: n,
  model: models[n % 3] ?? '',
  status: n % 5 ? 200 : 500,
  tags: [],
})

type Field = keyof typeof callOptions.fields
type NumberName = keyof typeof callOptions.numbers

/** What a log should hold, kept in the simplest way there is. */
export class LogModel {
  rows: Array<{ call: Call; body: string | undefined }> = []
  readonly totals = new Map<string, Record<string, number>>()

  append(call: Call, body: string | undefined): void {
    this.rows.push({ call, body })
    callOptions.rollup(call, (cells, amounts: Record<string, number>) => {
      for (const cell of cells) {
        const totals = this.totals.get(cell) ?? {}
        for (const [name, amount] of Object.entries(amounts)) totals[name] = (totals[name] ?? 0) + amount
        this.totals.set(cell, totals)
      }
    })
  }

  /** Removes the rows that match and says how many there were. */
  remove(matches: (call: Call) => boolean): number {
    const before = this.rows.length
    this.rows = this.rows.filter(({ call }) => !matches(call))
    return before - this.rows.length
  }

  removeBodies(before: number): number {
    return this.removeBodiesOf(({ at }) => at < before)
  }

  /** Removes the bodies of the rows that match and says how many there were. */
  removeBodiesOf(matches: (call: Call) => boolean): number {
    const concerned = this.rows.filter(({ call, body }) => body !== undefined && matches(call))
    for (const row of concerned) row.body = undefined
    return concerned.length
  }

  select({
    where = {},
    atLeast = {},
    from = -Infinity,
    to = Infinity,
    filter,
    reverse = true,
  }: LogQuery): Call[] {
    const meets = (call: Call, field: string, wanted: IndexValue | readonly IndexValue[]) => {
      const given: IndexValue | readonly IndexValue[] = callOptions.fields[field as Field](call)
      const has = typeof given === 'object' ? given : [given]
      const any = typeof wanted === 'object' ? wanted : [wanted]
      return wanted === undefined || any.some((value) => value !== undefined && has.includes(value))
    }
    const test = (filter ?? (() => true)) as (call: Call) => boolean
    const found = this.rows
      .map(({ call }) => call)
      .filter((call) => Object.entries(where).every(([field, wanted]) => meets(call, field, wanted)))
      .filter((call) =>
        Object.entries(atLeast).every(
          ([name, least]) =>
            least === undefined || (callOptions.numbers[name as NumberName](call) ?? Number.NaN) >= least,
        ),
      )
      .filter((call) => call.at >= from && call.at < to && test(call))
    return reverse ? found.reverse() : found
  }

  async checkQuery(log: Log<Call>, query: LogQuery): Promise<void> {
    const { offset = 0, limit = Infinity } = query
    const all = this.select(query)
    const items = all.slice(offset, offset + limit)
    const { next, ...page } = await log.list(query)
    expect(page).toEqual({ items, total: all.length })
    expect(await collect(log.scan(query))).toEqual(items)
    const rest = query.filter || limit === 0 ? [] : all.slice(offset + items.length)
    expect(next !== undefined).toBe(rest.length > 0)
    if (next === undefined) return
    const { offset: _, ...behind } = query
    expect(await collect(log.scan({ ...behind, after: next, limit: rest.length }))).toEqual(rest)
    const last = await log.list({ ...behind, after: next, limit: rest.length })
    expect(last).toEqual({ items: rest, total: all.length })
  }

  /** Every row, body and total of the log is what the model says. Reads all at once: one by one they only wait. */
  async check(log: Log<Call>): Promise<void> {
    const queries: LogQuery[] = [{}]
    for (const [field, valuesOf] of Object.entries(callOptions.fields))
      for (const value of new Set(this.rows.flatMap(({ call }) => valuesOf(call))))
        queries.push({ where: { [field]: value }, limit: 3 })
    const newest = new Map(this.rows.map((row) => [row.call.id, row]))
    await Promise.all([
      ...queries.map((query) => this.checkQuery(log, query)),
      ...Array.from(newest, async ([id, { call, body }]) => {
        expect(await log.get(id)).toEqual(call)
        expect(await log.body(id)).toBe(body)
      }),
      this.#checkTotals(log),
    ])
  }

  async #checkTotals(log: Log<Call>): Promise<void> {
    const cells = [...this.totals].sort(([a], [b]) => (a < b ? -1 : 1))
    expect(await log.totals('', '~')).toEqual({ cells })
    expect(await log.totals('0002', '0005')).toEqual({
      cells: cells.filter(([cell]) => cell >= '0002' && cell < '0005'),
    })
  }
}
