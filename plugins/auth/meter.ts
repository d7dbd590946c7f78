import type { Call, Counters, Outcome, UsedSums } from '#kernel'
import { countsAsRequest, usdOf } from '#kit'

/** The usage of a user in a month. */
export interface UsageRecord {
  readonly user_id: string
  /** `2026-11`, UTC. */
  readonly period: string
  readonly requests: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost_usd: number
}

/** The names of a user's counters in a month. */
interface Names {
  readonly period: string
  readonly requests: string
  readonly tokensIn: string
  readonly tokensOut: string
  readonly costNano: string
}

/** Users whose names are kept. */
const mostUsers = 10_000

const dayMs = 86_400_000
/** Characters of `2026-11`. */
const periodLength = 7

/** The month of a time, in UTC. */
export const periodOf = (time: Date): string => time.toISOString().slice(0, periodLength)

/** Durable sums a user and month; a call counts in the month it came in. */
export class UsageMeter {
  readonly #counters: Counters
  #day = { number: Number.NaN, period: '' }
  /** The counters of users in the month under way, whose names would else be made and hashed for each call. */
  readonly #names = new Map<string, Names>()

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Counts a call, unless it has no user, ended before a provider was asked or anything answered, or is an attack of the red team. */
  add(outcome: Outcome, call: Call): void {
    const { principal, trace, context } = call
    if (principal.userId === undefined || context.source === 'redteam') return
    if (!countsAsRequest(outcome, call)) return
    const { usage, cost } = outcome
    const names = this.#namesOf(this.#periodAt(trace.startedAt), principal.userId)
    this.#counters.add(names.requests, 1)
    if (usage.input > 0) this.#counters.add(names.tokensIn, usage.input)
    if (usage.output > 0) this.#counters.add(names.tokensOut, usage.output)
    if (cost && cost.totalNano > 0) this.#counters.add(names.costNano, cost.totalNano)
  }

  read(userId: string, period: string): UsageRecord {
    const names = namesOf(period, userId)
    return {
      user_id: userId,
      period,
      requests: this.#counters.get(names.requests),
      tokens_in: this.#counters.get(names.tokensIn),
      tokens_out: this.#counters.get(names.tokensOut),
      cost_usd: usdOf(this.#counters.get(names.costNano)),
    }
  }

  /** Raises a user's sums of a month that are less than these; whether any was. */
  raise(userId: string, period: string, { tokensIn, tokensOut, costNano }: UsedSums): boolean {
    const names = namesOf(period, userId)
    const least = [
      [names.tokensIn, tokensIn],
      [names.tokensOut, tokensOut],
      [names.costNano, costNano],
    ] as const
    const behind = least.filter(([name, sum]) => this.#counters.get(name) < sum)
    for (const [name, sum] of behind) this.#counters.set(name, sum)
    return behind.length > 0
  }

  /** In how many of the months that are kept a user used something. */
  count(userId: string, months: number, now: Date): number {
    const isUsed = (period: string): boolean =>
      countersOf(namesOf(period, userId)).some((name) => this.#counters.get(name) !== 0)
    return keptPeriods(months, now).filter(isUsed).length
  }

  /**
   * Forgets a user, and returns in how many months something was used. The counters are named and not searched for, as
   * those of all users may be many. All are deleted, as another thread may have counted what is not known here.
   */
  clear(userId: string, months: number, now: Date): number {
    const used = this.count(userId, months, now)
    for (const period of keptPeriods(months, now))
      for (const name of countersOf(namesOf(period, userId))) this.#counters.delete(name)
    return used
  }

  /** Forgets all but the latest months, the current one included. */
  prune(months: number, now: Date): void {
    const oldest = monthsAgo(months - 1, now)
    for (const period of this.#periods()) if (period < oldest) this.#counters.clear(`${period}/`)
  }

  /** Calls of one day share one conversion. */
  #periodAt(ms: number): string {
    const number = Math.floor(ms / dayMs)
    if (number !== this.#day.number) this.#day = { number, period: periodOf(new Date(ms)) }
    return this.#day.period
  }

  #namesOf(period: string, userId: string): Names {
    const known = this.#names.get(userId)
    if (known?.period === period) return known
    const names = namesOf(period, userId)
    if (this.#names.size === mostUsers) this.#names.clear()
    this.#names.set(userId, names)
    return names
  }

  #periods(): Set<string> {
    return new Set(this.#counters.entries().map(([name]) => name.slice(0, periodLength)))
  }
}

const monthsAgo = (months: number, now: Date): string =>
  periodOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)))

/** The months that may have counters: one ahead, as clocks are set back, and one that is about to be pruned. */
const keptPeriods = (months: number, now: Date): string[] =>
  Array.from({ length: months + 2 }, (_, n) => monthsAgo(n - 1, now))

const countersOf = ({ requests, tokensIn, tokensOut, costNano }: Names): string[] => [
  requests,
  tokensIn,
  tokensOut,
  costNano,
]

function namesOf(period: string, userId: string): Names {
  const cell = `${period}/${userId}/`
  return {
    period,
    requests: `${cell}requests`,
    tokensIn: `${cell}tokens_in`,
    tokensOut: `${cell}tokens_out`,
    costNano: `${cell}cost_nano`,
  }
}
