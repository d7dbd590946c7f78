import { ensure } from '#kit'
import { type Baseline, compare, medianOf, newBaseline } from './baseline.ts'

/**
 * An adaptive limit of calls at a time: the gradient of Netflix's "concurrency-limits" and Envoy's adaptive concurrency
 * filter, which carry the idea of TCP Vegas to requests. Latency above the best one is taken for waiting in a queue: the
 * limit shrinks in proportion to it, and grows by a part of its root while there is none. Plain data.
 */
export interface LoadLimit {
  limit: number
  running: number
  /** Calls that ran together since the limit last changed, at the most. */
  peak: number
  /** Counts the changes of the limit: a call tells about the limit under which it began. */
  edition: number
  /** Latencies of calls that began and ended under this edition, in multiples of the best. */
  ratios: number[]
  readonly baselines: Map<string, Baseline>
  /** Whether it has ever been too high. Until then it grows fast. */
  hasSlowed: boolean
  /** Whether a call was refused since the baselines were renewed. */
  hasShed: boolean
  renewAt: number
  /** Whether it has places of calls that ran before there was a limit. */
  hasTakenOver: boolean
  /** The limit to return to, while a lower one measures latencies anew. */
  resume: number | undefined
}

export interface Bounds {
  readonly min: number
  readonly max: number
  /** Multiple of the best latency that calls may take. */
  readonly tolerance: number
}

/** A call that runs, and the edition of the limit that it began under. */
export interface Running {
  readonly edition: number
}

/** What an ended call tells: its kind and latency, or that the provider was overloaded. */
export type Told = { readonly kind: string; readonly ms: number } | 'overloaded'

/** Fewest calls that a change is decided by. */
const fewest = 10
const mostKinds = 500
/** Latencies are measured anew after so long: a provider may have become faster or slower. */
const renewMs = 10 * 60_000
const firstRenewMs = 60_000

export const newLoadLimit = ({ min }: Bounds, now: number): LoadLimit => ({
  limit: min,
  running: 0,
  peak: 0,
  edition: 0,
  ratios: [],
  baselines: new Map(),
  hasSlowed: false,
  hasShed: false,
  renewAt: now + renewMs,
  hasTakenOver: false,
  resume: undefined,
})

/**
 * Takes over the place of a call that ran before there was a limit, so that the limit begins with what was in flight then. Whether that
 * is too much is not known, so it grows slowly and is measured anew soon.
 */
export function takeOver(load: LoadLimit, { max }: Bounds, now: number): void {
  load.limit = Math.min(max, load.limit + 1)
  load.hasTakenOver = true
  load.hasSlowed = true
  load.renewAt = Math.min(load.renewAt, now + firstRenewMs)
}

/** Lets a call in that may use this share of the limit; undefined when the share is used up. */
export function enter(load: LoadLimit, share: number): Running | undefined {
  if (load.running >= Math.max(1, Math.floor(load.limit * share))) {
    load.hasShed = true
    return undefined
  }
  load.running += 1
  load.peak = Math.max(load.peak, load.running)
  return { edition: load.edition }
}

/** Lets a call out; `told` is absent where the call says nothing about the load. */
export function leave(
  load: LoadLimit,
  { edition }: Running,
  told: Told | undefined,
  bounds: Bounds,
  now: number,
): void {
  load.running -= 1
  if (told === undefined || edition !== load.edition) return
  load.ratios.push(
    told === 'overloaded'
      ? Number.POSITIVE_INFINITY
      : compare(ensure(load.baselines, told.kind, newBaseline, mostKinds), told.ms),
  )
  if (load.ratios.length >= Math.max(fewest, load.limit / 2)) change(load, bounds, now)
}

/** Whether no call runs, and none has told anything yet. */
export const isBlank = ({ running, edition, ratios, hasTakenOver }: LoadLimit): boolean =>
  running === 0 && edition === 0 && ratios.length === 0 && !hasTakenOver

function change(load: LoadLimit, bounds: Bounds, now: number): void {
  const next = nextLimit(load, bounds)
  load.resume = undefined
  if (now >= load.renewAt) {
    // While calls are refused, all of them may be slow; a limit that is lower by the tolerance shows how fast they can be.
    if (load.hasShed) load.resume = next
    load.baselines.clear()
    load.renewAt = now + renewMs
    load.hasShed = false
  }
  const limit = load.resume === undefined ? next : next / bounds.tolerance
  load.limit = Math.min(bounds.max, Math.max(bounds.min, limit))
  load.edition += 1
  load.ratios = []
  load.peak = load.running
}

function nextLimit(load: LoadLimit, { tolerance }: Bounds): number {
  const { limit, ratios, peak, resume } = load
  if (resume !== undefined) return resume
  // Half of the tolerance is left for the calls that are slower than the median.
  const wanted = (1 + tolerance) / 2
  const slowdown = medianOf(ratios)
  const gradient = Math.min(1, Math.max(0.5, wanted / slowdown))
  const isCalm = slowdown < (1 + wanted) / 2
  if (!isCalm) load.hasSlowed = true
  const isUsed = peak >= limit / 2
  if (!load.hasSlowed) return isUsed ? limit * 1.4 : limit
  return limit * gradient + (isUsed ? Math.sqrt(limit) / (isCalm ? 1 : 2) : 0)
}
