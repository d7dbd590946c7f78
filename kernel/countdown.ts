import { contain } from './contain.ts'

/**
 * A time until when something must happen, moved on as things happen. One timer serves all countdowns of the process: it
 * rings for the one that was due first when the timer was set, and looks at all of them then. A timer for each would be
 * set and cleared with every call.
 */
export class Countdown {
  readonly #missed: (what: string, ms: number) => void
  readonly #place: Place
  #what = ''
  #ms = 0

  /** `missed` is told what was waited for, and for how many milliseconds. */
  constructor(missed: (what: string, ms: number) => void) {
    this.#missed = missed
    this.#place = newPlace(() => this.#missed(this.#what, this.#ms))
  }

  /** From now, within so many milliseconds; with undefined, whenever. */
  set(ms: number | undefined, what = ''): void {
    if (ms === undefined) {
      this.clear()
      return
    }
    this.#what = what
    this.#ms = ms
    this.#place.dueAt = performance.now() + ms
    if (!isTaken(this.#place)) take(this.#place)
    if (this.#place.dueAt < ringsAt) ringAt(this.#place.dueAt, ms)
  }

  /** The same time again, from now. Does nothing when no countdown is set. */
  renew(): void {
    if (isTaken(this.#place)) this.#place.dueAt = performance.now() + this.#ms
  }

  clear(): void {
    leave(this.#place)
  }
}

/** A place in the ring of those that run; alone, its neighbours are itself. */
interface Place {
  before: Place
  after: Place
  /** On the monotonic clock. */
  dueAt: number
  readonly ring: () => void
}

function newPlace(ring: () => void): Place {
  const place = { dueAt: 0, ring } as Place
  place.before = place
  place.after = place
  return place
}

/** Where the ring begins and ends. */
const ends = newPlace(() => {})
let timer: NodeJS.Timeout | undefined
let ringsAt = Number.POSITIVE_INFINITY

const isTaken = (place: Place): boolean => place.after !== place

function take(place: Place): void {
  place.before = ends.before
  place.after = ends
  place.before.after = place
  ends.before = place
}

function leave(place: Place): void {
  place.before.after = place.after
  place.after.before = place.before
  place.before = place
  place.after = place
}

/** Node takes longer times for a millisecond; who is due later is found not to be due yet. */
const longestTimer = 2 ** 31 - 1

function ringAt(dueAt: number, ms: number): void {
  clearTimeout(timer)
  ringsAt = dueAt
  timer = setTimeout(look, Math.min(ms, longestTimer)).unref()
}

/** Node rings up to a millisecond early. */
const isDue = ({ dueAt }: Place, now: number): boolean => dueAt - now <= 1

const look = contain('the countdowns', (): void => {
  const now = performance.now()
  const due: Place[] = []
  let next = Number.POSITIVE_INFINITY
  for (let place = ends.after; place !== ends; place = place.after) {
    if (isDue(place, now)) due.push(place)
    else next = Math.min(next, place.dueAt)
  }
  ringsAt = Number.POSITIVE_INFINITY
  if (next < Number.POSITIVE_INFINITY) ringAt(next, next - now)
  for (const place of due.sort((a, b) => a.dueAt - b.dueAt)) {
    // Each in a turn of its own: what one of them brings about may end another, or fail.
    const ring = contain('a countdown', () => {
      if (!isTaken(place) || !isDue(place, now)) return
      leave(place)
      place.ring()
    })
    queueMicrotask(ring)
  }
})
