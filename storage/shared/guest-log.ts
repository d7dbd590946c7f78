import { StoreError } from '../errors.ts'
import type { ErasingOptions, Log, LogOptions, LogQuery, LogStatus, Page, TotalsPage } from '../index.ts'
import { factsOf, type RowFacts } from '../level/block.ts'
import { LogIntake, reportRefused } from '../level/log-intake.ts'
import type { Taken } from '../level/log-queue.ts'
import { type GuestParts, isRefusal, readOn } from './guest-part.ts'
import type { CrossingRow, Indexed, LogNames, PartNews } from './messages.ts'

/**
 * A log as a thread has it that has not the store. Rows become text here, with all that its functions say of them, and
 * cross together; listings are made on the other side.
 */
export class GuestLog<T> implements Log<T> {
  readonly #parts: GuestParts
  readonly #intake: LogIntake<T>
  readonly #erasing = new Map<number, (row: T) => boolean>()
  #options: LogOptions<T>
  #crossing: Promise<unknown> = Promise.resolve()
  #erasures = 0

  constructor(options: LogOptions<T>, parts: GuestParts) {
    this.#parts = parts
    this.#options = options
    this.#intake = new LogIntake(options, { ...parts, flush: () => this.cross() })
  }

  /** Takes over the options of a handle that was made later; what waits crosses with the former ones. */
  reshape(options: LogOptions<T>): void {
    this.#intake.reshape(options)
    this.#crossBehind()
    this.#options = options
    this.#intake.adopt(options)
  }

  append(row: T, body?: () => string | undefined): void {
    this.#intake.append(row, body)
  }

  flush(): Promise<void> {
    return this.#ask('flush') as Promise<void>
  }

  prepare(): Promise<void> {
    return this.#ask('prepare') as Promise<void>
  }

  get(id: string): Promise<T | undefined> {
    return this.#ask('get', id) as Promise<T | undefined>
  }

  body(id: string): Promise<string | undefined> {
    return this.#ask('body', id) as Promise<string | undefined>
  }

  placeOf(id: string): Promise<string | undefined> {
    return this.#ask('placeOf', id) as Promise<string | undefined>
  }

  list(query: LogQuery = {}): Promise<Page<T>> {
    if (query.filter) return this.#parts.gate.run(() => this.#listFiltered(query))
    return this.#ask('list', query) as Promise<Page<T>>
  }

  async *scan({ filter, offset = 0, limit, ...query }: LogQuery = {}): AsyncGenerator<T> {
    const part = filter ? query : { ...query, offset, ...(limit !== undefined && { limit }) }
    const matches = filter as ((row: T) => boolean) | undefined
    let skip = matches ? offset : 0
    let left = limit ?? Number.POSITIVE_INFINITY
    checkPage({ offset, limit: left })
    this.#crossBehind()
    if (left <= 0) return
    for await (const row of readOn(this.#parts, part) as AsyncGenerator<T>) {
      if (matches && !matches(row)) continue
      if (skip-- > 0) continue
      yield row
      if (--left <= 0) return
    }
  }

  totals(from: string, to: string): Promise<TotalsPage> {
    return this.#ask('totals', from, to) as Promise<TotalsPage>
  }

  forgetTotals(from: string, to: string): Promise<number> {
    return this.#ask('forgetTotals', from, to) as Promise<number>
  }

  prune(beforeMs: number): Promise<number> {
    return this.#ask('prune', beforeMs) as Promise<number>
  }

  pruneBodies(beforeMs: number): Promise<number> {
    return this.#ask('pruneBodies', beforeMs) as Promise<number>
  }

  async erase(match: (row: T) => boolean, options?: ErasingOptions): Promise<number> {
    this.#erasures += 1
    const number = this.#erasures
    this.#erasing.set(number, match)
    try {
      return (await this.#ask('erase', number, options)) as number
    } finally {
      this.#erasing.delete(number)
    }
  }

  status(): LogStatus {
    return this.#intake.status()
  }

  /** Sends what waits; resolves when it is written there, as is all that was sent before. What is refused waits here. */
  cross(): Promise<unknown> {
    this.#intake.rest()
    const { queue } = this.#intake
    if (queue.waiting.rows === 0 && queue.dropped === 0) return this.#crossing
    reportRefused(queue, this.#parts.path, this.#parts.report)
    if (queue.waiting.rows === 0) return this.#crossing
    this.#crossing = Promise.all([this.#crossing.catch(() => {}), this.#sent()])
    this.#crossing.catch(() => {})
    return this.#crossing
  }

  async #sent(): Promise<void> {
    const { queue, isPostponed } = this.#intake
    // While writes are refused, this first asks without rows, as the rows may be many.
    const taken = isPostponed ? noRows : queue.take()
    const rows = taken.rows.map(({ json, body, facts, sums }): CrossingRow => ({ json, body, facts, sums }))
    try {
      await this.#parts.ask('append', rows, namesOf(this.#options))
      queue.settle(taken)
    } catch (error) {
      queue.settle(taken)
      if (isRefusal(error)) queue.putBack(taken.rows)
      else queue.drop(taken.rows.length)
      this.#intake.postpone()
      throw error
    }
    if (!isPostponed) return
    this.#intake.resume()
    await this.#sent()
  }

  /** What is asked of it; resolves with the answer. */
  hear(news: PartNews): unknown {
    if ('index' in news) return this.#indexed(news.index as readonly T[])
    if (!('erasing' in news)) return undefined
    const match = this.#erasing.get(news.erasing)
    return (news.rows as readonly T[]).map((row) => match?.(row) ?? false)
  }

  #ask(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.#parts.gate.run(() => {
      this.#crossBehind()
      return this.#parts.ask(method, ...args)
    })
  }

  #crossBehind(): void {
    this.cross().catch(() => {})
  }

  async #listFiltered({
    limit = Number.POSITIVE_INFINITY,
    offset = 0,
    ...query
  }: LogQuery): Promise<Page<T>> {
    checkPage({ limit, offset })
    const items: T[] = []
    let total = 0
    for await (const row of this.scan(query)) {
      if (total >= offset && items.length < limit) items.push(row)
      total++
    }
    return { items, total }
  }

  #indexed(rows: readonly T[]): Indexed {
    const factsOrNone = (row: T): RowFacts | undefined => {
      try {
        return factsOf(this.#options, row)
      } catch {
        return undefined
      }
    }
    return { ...namesOf(this.#options), facts: rows.map(factsOrNone) }
  }
}

const noRows: Taken = { rows: [], bytes: 0 }

/** The names of what these options find rows by. */
export const namesOf = ({ fields, numbers }: LogOptions<never>): LogNames => ({
  fields: Object.keys(fields ?? {}),
  numbers: Object.keys(numbers ?? {}),
})

function checkPage({ offset, limit }: { offset: number; limit: number }): void {
  if (!(offset >= 0) || !(limit >= 0))
    throw new StoreError('QUERY_INVALID', 'limit and offset may not be negative.')
}
