import type { Call, Counters, Outcome } from '#kernel'
import { usdOf } from '#kit'

/** What a user used in a month. */
export interface UsageRecord {
  readonly user_id: string
  /** `2026-11`, UTC. */
  readonly period: string
  readonly requests: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost_usd: number
}

const dayMs = 86_400_000

/** The month of a time, in UTC. */
export const periodOf = (time: Date): string => time.toISOString().slice(0, 7)

/** Durable sums a user and month; a call counts in the month it came in. */
export class UsageMeter {
  readonly #counters: Counters
  #day = { number: Number.NaN, period: '' }

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Counts a call, unless it is nobody's or was refused before it reached a provider. */
  add({ ending, usage, cost }: Outcome, { principal, trail }: Call): void {
    if (principal.userId === undefined || ending === 'refused') return
    const cell = cellOf(this.#periodAt(trail.startedAt), principal.userId)
    this.#counters.add(`${cell}requests`, 1)
    if (usage.input > 0) this.#counters.add(`${cell}tokens_in`, usage.input)
    if (usage.output > 0) this.#counters.add(`${cell}tokens_out`, usage.output)
    if (cost && cost.totalNano > 0) this.#counters.add(`${cell}cost_nano`, cost.totalNano)
  }

  read(userId: string, period: string): UsageRecord {
    const value = (field: string): number => this.#counters.get(cellOf(period, userId) + field)
    return {
      user_id: userId,
      period,
      requests: value('requests'),
      tokens_in: value('tokens_in'),
      tokens_out: value('tokens_out'),
      cost_usd: usdOf(value('cost_nano')),
    }
  }

  /** Forgets a user. */
  clear(userId: string): void {
    for (const period of this.#periods()) this.#counters.clear(cellOf(period, userId))
  }

  /** Forgets all but the latest months, the current one included. */
  prune(months: number, now: Date): void {
    const oldest = periodOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months + 1)))
    for (const period of this.#periods()) if (period < oldest) this.#counters.clear(`${period}/`)
  }

  /** Calls of one day share one conversion. */
  #periodAt(ms: number): string {
    const number = Math.floor(ms / dayMs)
    if (number !== this.#day.number) this.#day = { number, period: periodOf(new Date(ms)) }
    return this.#day.period
  }

  #periods(): Set<string> {
    return new Set(this.#counters.entries().map(([name]) => name.slice(0, 7)))
  }
}

const cellOf = (period: string, userId: string): string => `${period}/${userId}/`
