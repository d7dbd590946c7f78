import type { Left, Limit } from '#kernel'

/** Milliseconds since the epoch, whole ones. */
export interface Now {
  /** Never goes back while the process runs. */
  readonly at: number
  /** By the clock on the wall. */
  readonly wall: number
}

/** A reserved amount, and its time. */
export interface Taken extends Now {
  readonly amount: number
}

/** How one kind of limit counts. `S` is what it remembers of one count: plain data, as it outlives reloads. */
export interface Kind<L extends Limit, S> {
  /** The properties that distinguish counts of one name. */
  key(limit: L): string
  fresh(limit: L, now: Now): S
  /** How it stands for a claim of this amount. */
  look(count: S, limit: L, amount: number, now: Now): Left
  take(count: S, limit: L, amount: number, now: Now): void
  /** Settles an amount that was taken then, of which so much was used. */
  settle(count: S, limit: L, taken: Taken, used: number, now: Now): void
  /** Whether it is as if it had never been used. */
  isIdle(count: S, now: Now): boolean
  /** The part of it that is kept over a restart, without open reservations; undefined when there is none. */
  pack(count: S, reserved: readonly Taken[]): number[] | undefined
  unpack(packed: readonly number[], now: Now): S
}

export const capped = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER)
