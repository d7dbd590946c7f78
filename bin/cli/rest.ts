import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface RestOptions {
  /** How often the process looks whether it rests, milliseconds. */
  readonly everyMs?: number
  /** How long it has to rest after a load; what the start and the first calls have left goes as soon as it rests. Milliseconds. */
  readonly restMs?: number
  /** CPU from which on what came since the start, or since a collection, is a load and no longer the first calls. Milliseconds. */
  readonly loadMs?: number
}

/** The share of a core below which the process rests. */
const restingShare = 0.02

/** Of how much more memory than after the last time it wants to be rid, bytes. */
const worthBytes = 8 * 2 ** 20

/** Percent by which a heap may grow before it is collected; an operator who gives Node less wants to save memory. */
const savingPercent = 100

type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void

/** How long a process rests after a load until its memory counts for more than its compiled code, by what its operator wants. */
const restFor = { memory: 60_000, speed: 600_000 }

/**
 * Gives back to the system what the start has left, what the first calls have left, and what a load has left that is over for ten
 * minutes, or for one where memory counts for more than speed: V8 waits with that for garbage which an idle process does not make. A
 * collection takes a tenth of a second. After a load, calls then cost up to three times the CPU until they are compiled anew: where
 * nothing is under way, the collection takes the shapes of objects that the compiled code of calls is made for, and V8 throws that code
 * away. V8's own collections of an idle heap do the same after a second, so `npm start` has them switched off. The returned function
 * ends it.
 */
export function releaseAtRest({
  everyMs = 2_000,
  restMs = savesMemory() ? restFor.memory : restFor.speed,
  loadMs = 2_000,
}: RestOptions = {}): () => void {
  let kept = 0
  // The start, and the first calls unless they are a load, whose compiled code is worth more.
  let beginnings = 2
  let spent = 0
  let rested = 0
  let before = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isResting = user + system < restingShare * everyMs * 1000
    rested = isResting ? rested + everyMs : 0
    // What a process at rest takes adds up too, and is no load.
    if (!isResting) spent += user + system
    if (spent > loadMs * 1000) beginnings = 0
    if (rested < (beginnings ? everyMs : restMs) || process.memoryUsage.rss() - kept < worthBytes) return
    release()
    kept = process.memoryUsage.rss()
    before = process.cpuUsage()
    spent = 0
    beginnings = Math.max(0, beginnings - 1)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Has the young generation grow to its full size with the first load. Node is started with one that does not grow: a start makes
 * garbage by which it would, and would keep 50 MB that a gateway at rest has no use for.
 */
export function growUnderLoad(): void {
  setFlagsFromString('--semi-space-growth-factor=64')
}

/** Collects all that can be collected, shrinks the heap to what is left, and puts on disk what Node compiled. */
export function release(): void {
  flushCompileCache()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  collect({ type: 'major', flavor: 'last-resort' })
}

/** Whether Node's options let the heap grow by so little that its memory counts for more than its speed. */
export function savesMemory(
  options: readonly string[] = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)],
): boolean {
  return options.some((option) => {
    const [, percent] = /^--heap-growing-percent=(\d+)$/.exec(option) ?? []
    return percent !== undefined && Number(percent) < savingPercent
  })
}
