import type { Metric } from './metrics.ts'
import { partOf, Window } from './window.ts'

/** The windows that all rules may have together. */
export const mostWindows = 20_000

/** How many windows there are; all rules share one. */
export interface Room {
  windows: number
}

/** The windows of a rule by group, so many at the most: of more, the group whose last value is the oldest goes. */
export class Groups {
  /** Groups that were not added to for longest come first. */
  readonly #quiet = new Map<string, Window>()
  /** Groups that fire: they stay, because a forgotten one would seem to be over. */
  readonly #held = new Map<string, Window>()
  readonly #metric: Metric
  readonly #windowMs: number
  readonly #room: Room
  /** Groups that went, or for which there was no room. */
  dropped = 0

  constructor(metric: Metric, windowMs: number, room: Room) {
    this.#metric = metric
    this.#windowMs = windowMs
    this.#room = room
  }

  get size(): number {
    return this.#quiet.size + this.#held.size
  }

  /** Adds a value; `isPast` says that values come newest first, where a group that finds no room is the oldest. */
  add(group: string, at: number, value: number, most: number, isPast: boolean): void {
    const window = this.#held.get(group) ?? this.#quietOf(group, at, most, isPast)
    window?.add(at, value)
  }

  read(group: string, now: number) {
    return (this.#held.get(group) ?? this.#quiet.get(group))?.read(now)
  }

  /** Has a group stay, also one without values. */
  hold(group: string, now: number): void {
    if (this.#held.has(group)) return
    const window = this.#quiet.get(group) ?? this.#made(now)
    this.#quiet.delete(group)
    this.#held.set(group, window)
  }

  /** Lets a group go like any other. */
  letGo(group: string): void {
    const window = this.#held.get(group)
    if (!window) return
    this.#held.delete(group)
    this.#quiet.set(group, window)
  }

  /** The groups that have something in their windows, those that fire, and those in which values have run out since. */
  names(): readonly string[] {
    return [...this.#held.keys(), ...this.#quiet.keys()]
  }

  /** Forgets a group whose window has run empty. */
  tidy(group: string): void {
    if (this.#quiet.get(group)?.isEmpty) this.forget(group)
  }

  /** Forgets a group with all that its window holds, also one that fires. */
  forget(group: string): void {
    if (this.#held.delete(group) || this.#quiet.delete(group)) this.#room.windows -= 1
  }

  /** Puts the groups in the order of their newest values, after values of the past came in another. */
  sort(): void {
    const sorted = [...this.#quiet].sort(([, a], [, b]) => a.newest - b.newest)
    this.#quiet.clear()
    for (const [group, window] of sorted) this.#quiet.set(group, window)
  }

  /** Gives back all room. */
  clear(): void {
    this.#room.windows -= this.size
    this.#quiet.clear()
    this.#held.clear()
  }

  #quietOf(group: string, at: number, most: number, isPast: boolean): Window | undefined {
    const known = this.#quiet.get(group)
    if (known && (isPast || partOf(at, this.#windowMs) <= known.newest)) return known
    if (!known && !this.#hasRoom(most)) {
      this.dropped += 1
      const [oldest] = this.#quiet.keys()
      if (isPast || oldest === undefined) return undefined
      this.forget(oldest)
    }
    // Behind all others.
    this.#quiet.delete(group)
    const window = known ?? this.#made(at)
    this.#quiet.set(group, window)
    return window
  }

  /** One group of a rule always has room, so that no rule starves for others. */
  #hasRoom(most: number): boolean {
    return this.size === 0 || (this.size < most && this.#room.windows < mostWindows)
  }

  #made(at: number): Window {
    this.#room.windows += 1
    return new Window(this.#metric, this.#windowMs, at)
  }
}
