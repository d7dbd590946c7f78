import { contain } from './contain.ts'

/** A time until when something must happen, moved on as things happen. Made by `Countdowns`. */
export class Countdown {
  readonly #ring: Ring
  readonly #node: TimerNode
  #what = ''
  #ms = 0

  constructor(ring: Ring, missed: (what: string, ms: number) => void) {
    this.#ring = ring
    this.#node = newNode(() => missed(this.#what, this.#ms))
  }

  /** From now, within so many milliseconds; with undefined, whenever. */
  set(ms: number | undefined, what = ''): void {
    if (ms === undefined) {
      this.clear()
      return
    }
    this.#what = what
    this.#ms = ms
    this.#ring.take(this.#node, ms)
  }

  /** The same time again, from now. Does nothing when no countdown is set. */
  renew(): void {
    if (isTaken(this.#node)) this.#node.dueAt = performance.now() + this.#ms
  }

  clear(): void {
    leave(this.#node)
  }
}

/**
 * Makes countdowns that share one timer. A timer for each would be set and cleared with every call. They keep no process
 * alive.
 */
export class Countdowns {
  readonly #ring = new Ring()

  /** A countdown, not yet set. `missed` receives the name of the thing that was late, and the time limit in milliseconds. */
  make(missed: (what: string, ms: number) => void): Countdown {
    return new Countdown(this.#ring, missed)
  }
}

/** A node in the ring of those that run; alone, its neighbours are itself. */
interface TimerNode {
  before: TimerNode
  after: TimerNode
  /** On the monotonic clock. */
  dueAt: number
  readonly ring: () => void
}

function newNode(ring: () => void): TimerNode {
  const node = { dueAt: 0, ring } as TimerNode
  node.before = node
  node.after = node
  return node
}

const isTaken = (node: TimerNode): boolean => node.after !== node

function leave(node: TimerNode): void {
  node.before.after = node.after
  node.after.before = node.before
  node.before = node
  node.after = node
}

/**
 * Milliseconds after which a timer that has not rung counts as lost. It rings late while the process is busy, and never if
 * the timers of the process were exchanged, as tests do; without another one no countdown would ever ring again.
 */
const lostMs = 1_000

/** Node treats longer times as a millisecond; a countdown that is due later is then found not to be due yet. */
const longestTimer = 2 ** 31 - 1

/** Node rings up to a millisecond early. */
const isDue = ({ dueAt }: TimerNode, now: number): boolean => dueAt - now <= 1

/** Countdowns that run, and their timer: it rings for the one that was due first when it was set, and looks at all of them then. */
class Ring {
  /** Where the ring begins and ends. */
  readonly #ends = newNode(() => {})
  #timer: NodeJS.Timeout | undefined
  #ringsAt = Number.POSITIVE_INFINITY

  /** Has a node ring in so many milliseconds. */
  take(node: TimerNode, ms: number): void {
    const now = performance.now()
    node.dueAt = now + ms
    if (!isTaken(node)) this.#append(node)
    if (node.dueAt < this.#ringsAt) this.#ringAt(node.dueAt, ms)
    else if (now - this.#ringsAt > lostMs) this.#ringAt(now, 0)
  }

  #append(node: TimerNode): void {
    node.before = this.#ends.before
    node.after = this.#ends
    node.before.after = node
    this.#ends.before = node
  }

  #ringAt(dueAt: number, ms: number): void {
    clearTimeout(this.#timer)
    this.#ringsAt = dueAt
    this.#timer = setTimeout(this.#look, Math.min(ms, longestTimer)).unref()
  }

  readonly #look = contain('the countdowns', (): void => {
    const now = performance.now()
    const due: TimerNode[] = []
    let next = Number.POSITIVE_INFINITY
    for (let node = this.#ends.after; node !== this.#ends; node = node.after) {
      if (isDue(node, now)) due.push(node)
      else next = Math.min(next, node.dueAt)
    }
    this.#ringsAt = Number.POSITIVE_INFINITY
    if (next < Number.POSITIVE_INFINITY) this.#ringAt(next, next - now)
    for (const node of due.sort((a, b) => a.dueAt - b.dueAt)) {
      // Each in a turn of its own: what one of them brings about may end another, or fail.
      const ring = contain('a countdown', () => {
        if (!isTaken(node) || !isDue(node, now)) return
        leave(node)
        node.ring()
      })
      queueMicrotask(ring)
    }
  })
}
