import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface RestOptions {
  /** How often the process looks whether it rests, milliseconds. */
  readonly everyMs?: number
  /** How long it has to rest after a load; what the start has left goes as soon as it rests at all. Milliseconds. */
  readonly restMs?: number
}

/** The share of a core below which the process rests. */
const restingShare = 0.02

/** Of how much more memory than after the last time it wants to be rid, bytes. */
const worthBytes = 16 * 2 ** 20

/** Megabytes of a young generation that Node was told to have from the beginning, with which nothing is given back. */
const keptYoungMb = 64

type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void

/**
 * Gives back to the system what the start has left, and what a load has left that is over for a minute: V8 waits with that for
 * garbage which an idle process does not make. A collection takes a tenth of a second, and calls after it are dearer for a
 * moment, so pauses between loads do not count as rest. Who gives Node a large young generation wants speed, and keeps all of
 * it. The returned function ends it.
 */
export function releaseAtRest({ everyMs = 2_000, restMs = 60_000 }: RestOptions = {}): () => void {
  if (toldYoungMb() >= keptYoungMb) return () => {}
  let kept = 0
  let rested = 0
  let before = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    rested = user + system < restingShare * everyMs * 1000 ? rested + everyMs : 0
    if (rested < (kept ? restMs : everyMs) || process.memoryUsage.rss() - kept < worthBytes) return
    release()
    kept = process.memoryUsage.rss()
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Collects all that can be collected, shrinks the heap to what is left, and puts on disk what Node compiled. */
export function release(): void {
  flushCompileCache()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  collect({ type: 'major', flavor: 'last-resort' })
}

function toldYoungMb(): number {
  const options = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  const told = options.map((option) => /^--min-semi-space-size=(\d+)$/.exec(option)?.[1] ?? 0)
  return Math.max(...told.map(Number))
}
