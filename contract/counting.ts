import { guardedToken } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'

/** How much there may be of something. Amounts are whole numbers: calls, tokens, nano-dollars. */
export type Limit =
  /** At a time: what is reserved comes back when it is settled, whatever was used. */
  | { readonly kind: 'concurrency'; readonly most: number }
  /** In any window of so many milliseconds, to a precision of a sixtieth of it. */
  | { readonly kind: 'sliding'; readonly most: number; readonly windowMs: number }
  /** As a steady flow, `burst` of them at once after a pause (a token bucket). A reservation counts as used. */
  | { readonly kind: 'bucket'; readonly most: number; readonly windowMs: number; readonly burst: number }
  /** In each day or month of the calendar, in a time zone by its IANA name. */
  | { readonly kind: 'day' | 'month'; readonly most: number; readonly timezone: string }

/**
 * An amount claimed under one limit. It is counted by name and unit, and by the limit's kind, window and time zone: a claim
 * with another `most` meets the same count, so that changing a limit refills nothing.
 */
export interface Claim {
  /** The owner of the count: `user:usr_1`. */
  readonly name: string
  /** The unit of the count: `tokens`. */
  readonly unit: string
  readonly limit: Limit
  readonly amount: number
}

/** How a limit stands. */
export interface Left {
  /** Used, and reserved but not yet settled. */
  readonly used: number
  readonly remaining: number
  /** Milliseconds until all of it is there again, if nothing is added. */
  readonly resetMs: number
  /**
   * Milliseconds until the claim would be granted, 0 when it would be now; undefined when it never will, being more than the
   * limit. For what runs at a time, a second: how long it takes is not known.
   */
  readonly retryMs: number | undefined
}

export interface Held {
  readonly granted: true
  /** To settle it by, from any thread. */
  readonly id: string
  /** The state of the limits after it, claim by claim. */
  readonly left: readonly Left[]
}

export interface Refusal {
  readonly granted: false
  /** The claim that is refused; of several the one that will be for longest. */
  readonly claim: number
  /** As in `Left`. */
  readonly retryMs: number | undefined
  readonly left: readonly Left[]
}

/**
 * Reserves before something happens and settles when it is over, so that no limit is passed, however many ask at once and in
 * whichever threads. Two grants are counted twice; two settlements of one grant, once.
 */
export interface Budget {
  /**
   * Takes from all limits or from none. An unsettled reservation is given back when its thread or the process ends, and after
   * `leaseMs` where that is given.
   */
  reserve(claims: readonly Claim[], options?: { readonly leaseMs?: number }): Awaitable<Held | Refusal>
  /**
   * Settles with the amounts used, by unit; a unit that is not named counts as reserved. The unused part is given back to the
   * time of the reservation, and use beyond it counts from now. False when there is nothing to settle: it was settled before,
   * or was given back.
   */
  settle(held: Pick<Held, 'id'>, used: Readonly<Record<string, number>>): Awaitable<boolean>
  /** How the limits stand, without taking anything. */
  left(claims: readonly Claim[]): Awaitable<readonly Left[]>
  /** Resolves when what was settled so far is on disk. Otherwise it is within a second. */
  flush(): Promise<void>
}

export interface WindowOptions {
  readonly windowMs: number
  /** How many groups are kept; of more, the one that was not added to for longest is forgotten. 1,000 by default. */
  readonly mostGroups?: number
  /** Whether quantiles will be asked for. */
  readonly quantiles?: boolean
}

export interface WindowSum {
  readonly count: number
  readonly sum: number
}

/** Sums and quantiles of the values added in the last window, by group, to a precision of a sixtieth of the window. In memory. */
export interface Windows {
  /** Adds a value of 0 or more, now. */
  add(group: string, value: number): void
  read(group: string): WindowSum
  /** The value below which this share (0 to 1) lies, to within 3 %; undefined when there is none. */
  quantile(group: string, share: number): number | undefined
  /** Groups that have something in their window. */
  groups(): readonly string[]
}

/** The same over all threads: what is added in another thread is there within some 20 ms. */
export interface SharedWindows {
  add(group: string, value: number): void
  read(group: string): Awaitable<WindowSum>
  quantile(group: string, share: number): Awaitable<number | undefined>
  groups(): Awaitable<readonly string[]>
}

/** Counting that holds over threads, reloads and restarts. Names are a plugin's own when they begin with its id. */
export interface Counting {
  budget(name: string): Budget
  /** Of this thread alone. */
  windows(name: string, options: WindowOptions): Windows
  /** Of all threads. */
  sharedWindows(name: string, options: WindowOptions): SharedWindows
}

export const Counting = guardedToken<Counting>('counting')
