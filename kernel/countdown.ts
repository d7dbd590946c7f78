import { contain } from './contain.ts'

/**
 * A time until when something must happen, moved on as things happen. One timer serves all countdowns of the process: it
 * rings for the one that was due first when the timer was set, and looks at all of them then. A timer for each would be
 * set and cleared with every call.
 */
export class Countdown {
  readonly #missed: (what: string, ms: number) => void
  readonly #node: TimerNode
  #what = ''
  #ms = 0

  /** `missed` receives the name of the thing that was late, and the time limit in milliseconds. */
  constructor(missed: (what: string, ms: number) => void) {
    this.#missed = missed
    this.#node = newNode(() => this.#missed(this.#what, this.#ms))
  }

  /** From now, within so many milliseconds; with undefined, whenever. */
  set(ms: number | undefined, what = ''): void {
    if (ms === undefined) {
      this.clear()
      return
    }
    this.#what = what
    this.#ms = ms
    const now = performance.now()
    this.#node.dueAt = now + ms
    if (!isTaken(this.#node)) take(this.#node)
    if (this.#node.dueAt < ringsAt) ringAt(this.#node.dueAt, ms)
    else if (now - ringsAt > lostMs) ringAt(now, 0)
  }

  /** The same time again, from now. Does nothing when no countdown is set. */
  renew(): void {
    if (isTaken(this.#node)) this.#node.dueAt = performance.now() + this.#ms
  }

  clear(): void {
    leave(this.#node)
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

/** Where the ring begins and ends. */
const ends = newNode(() => {})
let timer: NodeJS.Timeout | undefined
let ringsAt = Number.POSITIVE_INFINITY

/**
 * Milliseconds after which a timer that has not rung counts as lost. It rings late while the process is busy, and never if
 * the timers of the process were exchanged, as tests do; without another one no countdown would ever ring again.
 */
const lostMs = 1_000

const isTaken = (node: TimerNode): boolean => node.after !== node

function take(node: TimerNode): void {
  node.before = ends.before
  node.after = ends
  node.before.after = node
  ends.before = node
}

function leave(node: TimerNode): void {
  node.before.after = node.after
  node.after.before = node.before
  node.before = node
  node.after = node
}

/** Node treats longer times as a millisecond; a countdown that is due later is then found not to be due yet. */
const longestTimer = 2 ** 31 - 1

function ringAt(dueAt: number, ms: number): void {
  clearTimeout(timer)
  ringsAt = dueAt
  timer = setTimeout(look, Math.min(ms, longestTimer)).unref()
}

/** Node rings up to a millisecond early. */
const isDue = ({ dueAt }: TimerNode, now: number): boolean => dueAt - now <= 1

const look = contain('the countdowns', (): void => {
  const now = performance.now()
  const due: TimerNode[] = []
  let next = Number.POSITIVE_INFINITY
  for (let node = ends.after; node !== ends; node = node.after) {
    if (isDue(node, now)) due.push(node)
    else next = Math.min(next, node.dueAt)
  }
  ringsAt = Number.POSITIVE_INFINITY
  if (next < Number.POSITIVE_INFINITY) ringAt(next, next - now)
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
