/**
 * A time until when something must happen, moved on as things happen. One timer serves all countdowns of the process: it
 * rings for the one that was due first when the timer was set, and looks at all of them then. A timer for each would cost
 * every call several times as much.
 */
export class Countdown {
  /** Between the first and the last of those that run. */
  static readonly #ends = new Countdown(() => {})
  static #timer: NodeJS.Timeout | undefined
  /** On the monotonic clock, like `#dueAt`. */
  static #ringsAt = Number.POSITIVE_INFINITY

  readonly #missed: (what: string, ms: number) => void
  #what = ''
  #ms = 0
  #dueAt = 0
  /** Its neighbours while it runs. */
  #before: Countdown | undefined
  #after: Countdown | undefined

  static {
    const ends = Countdown.#ends
    ends.#before = ends
    ends.#after = ends
  }

  /** `missed` is told what was waited for, and for how many milliseconds. */
  constructor(missed: (what: string, ms: number) => void) {
    this.#missed = missed
  }

  /** From now, within so many milliseconds; with undefined, whenever. */
  set(ms: number | undefined, what = ''): void {
    if (ms === undefined) {
      this.clear()
      return
    }
    this.#what = what
    this.#ms = ms
    this.#dueAt = performance.now() + ms
    if (!this.#after) this.#start()
    if (this.#dueAt < Countdown.#ringsAt) Countdown.#ringAt(this.#dueAt, ms)
  }

  /** The same time again, from now. Does nothing when no countdown is set. */
  renew(): void {
    if (this.#after) this.#dueAt = performance.now() + this.#ms
  }

  clear(): void {
    if (!this.#after) return
    this.#before!.#after = this.#after
    this.#after.#before = this.#before
    this.#before = undefined
    this.#after = undefined
  }

  #start(): void {
    const ends = Countdown.#ends
    this.#before = ends.#before!
    this.#after = ends
    this.#before.#after = this
    ends.#before = this
  }

  /** Node rings up to a millisecond early. */
  #isDue(now: number): boolean {
    return this.#dueAt - now <= 1
  }

  #ring(now: number): void {
    if (!this.#after || !this.#isDue(now)) return
    this.clear()
    this.#missed(this.#what, this.#ms)
  }

  static #ringAt(dueAt: number, ms: number): void {
    clearTimeout(Countdown.#timer)
    Countdown.#ringsAt = dueAt
    Countdown.#timer = setTimeout(Countdown.#look, ms).unref()
  }

  static readonly #look = (): void => {
    const ends = Countdown.#ends
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (let one = ends.#after!; one !== ends; one = one.#after!) {
      // Each in a turn of its own: what one of them brings about may end another, or fail.
      if (one.#isDue(now)) queueMicrotask(() => one.#ring(now))
      else next = Math.min(next, one.#dueAt)
    }
    Countdown.#ringsAt = Number.POSITIVE_INFINITY
    Countdown.#timer = undefined
    if (next < Number.POSITIVE_INFINITY) Countdown.#ringAt(next, next - now)
  }
}
