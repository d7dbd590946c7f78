import type { CallSource } from '../kernel/contract/calls.ts'
import { token } from '../kernel/token.ts'

/** What calls can be summed up by. `total` has one value, the empty text; a tag is `name=value`. */
export type FigureDimension = 'total' | 'provider' | 'model' | 'project' | 'user' | 'key' | 'tenant' | 'tag'

/** Sums over calls that have settled. */
export interface FigureSums {
  readonly requests: number
  readonly errors: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Of the tokens in: read from a provider's prompt cache. */
  readonly tokensCached: number
  /** Of the tokens out. */
  readonly tokensReasoning: number
  /** Nano-dollars. */
  readonly costNano: number
  /** Of the cost: of calls that went with keys of their users. */
  readonly ownKeyNano: number
  /** Calls that used tokens and whose cost is not known, or only in part: they cost more than `costNano` says. Absent when there are none. */
  readonly unpriced?: number
}

/** The calls of a day or an hour with one value. */
export interface FigureLine {
  /** When the day or hour began, in ms since the epoch. */
  readonly at: number
  readonly value: string
  readonly sums: FigureSums
}

/**
 * Sums over all calls through the gateway, whatever made them, from the roll-up that is written with their traces: it holds
 * over restarts and kills, and stays when traces are deleted. Traces that clients reported are in none of them, and attacks of the red team in
 * none of a user.
 */
export interface Figures {
  /**
   * The calls of one user, key, project or tenant, or of all, that began from a time on, to a quarter of an hour: for the last
   * 65 days. A project of a tenant is `["<tenant>","<project>"]`.
   */
  since(
    dimension: 'total' | 'user' | 'key' | 'project' | 'tenant',
    value: string,
    from: number,
    to?: number,
  ): Promise<FigureSums>
  /** Sums by value, over UTC days counted from the epoch, both included; of one user where that is given. */
  byValue(
    dimension: FigureDimension,
    fromDay: number,
    toDay: number,
    userId?: string,
  ): Promise<ReadonlyMap<string, FigureSums>>
  /** The same by the number of the day, of one user, and of one source of calls, where that is given. Days without calls are left out. */
  byDay(
    fromDay: number,
    toDay: number,
    userId?: string,
    source?: 'proxy' | CallSource,
  ): Promise<ReadonlyMap<number, FigureSums>>
  /** The same for each day and value. */
  days(
    dimension: FigureDimension,
    fromDay: number,
    toDay: number,
    userId?: string,
  ): Promise<readonly FigureLine[]>
  /** The same for each hour that begins in a time, of all users, for the last 65 days. A line may come in several parts. */
  hours(dimension: FigureDimension, from: number, to: number): Promise<readonly FigureLine[]>
}

export const Figures = token<Figures>('figures')
