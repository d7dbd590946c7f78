/**
 * A time until when something must happen, moved on as things happen. A timer that rings too early is set again when
 * it rings: to move the end costs a clock reading, where a new timer each time would cost one for every chunk.
 */
export class Countdown {
  readonly #missed: (what: string, ms: number) => void
  #timer: NodeJS.Timeout | undefined
  #what = ''
  #ms = 0
  /** On the monotonic clock, like `#ringsAt`. */
  #dueAt = 0
  #ringsAt = 0

  /** `missed` is told what was waited for, and for how many milliseconds. */
  constructor(missed: (what: string, ms: number) => void) {
    this.#missed = missed
  }

  /** From now, within so many milliseconds; with undefined, whenever. */
  set(ms: number | undefined, what: string): void {
    if (ms === undefined) {
      this.clear()
      return
    }
    this.#what = what
    this.#ms = ms
    this.#dueAt = performance.now() + ms
    if (this.#timer && this.#ringsAt <= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#start(ms)
  }

  /** The same time again, from now. Does nothing when no countdown is set. */
  renew(): void {
    if (this.#timer) this.#dueAt = performance.now() + this.#ms
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #start(ms: number): void {
    this.#ringsAt = performance.now() + ms
    this.#timer = setTimeout(this.#ring, ms)
  }

  readonly #ring = (): void => {
    this.#timer = undefined
    // Node rings up to a millisecond early.
    const left = Math.ceil(this.#dueAt - performance.now() - 1)
    if (left > 0) this.#start(left)
    else this.#missed(this.#what, this.#ms)
  }
}
