import { afterRequest, levelOf, type Rate } from './gcra.ts'
import { add, emptyMinute, type Minute, sumOf, waitMs } from './minute.ts'

/** What a limit says of a call that wants in. */
export interface Standing {
  /** What is left before the call. */
  readonly remaining: number
  /** Until all of it is there again. */
  readonly resetMs: number
  /** Until the call may try again; 0 when it may go. */
  readonly retryMs: number
}

/** What a call weighs, and when it came. */
export interface Load {
  readonly at: number
  readonly tokens: number
}

/** A limit as plain data. */
export interface Bound {
  readonly measure: 'requests' | 'tokens' | 'concurrency'
  /** Requests or tokens a minute, or calls at a time. */
  readonly most: number
  /** Requests at once. */
  readonly burst?: number
}

/** One kind of limit over many buckets. Who asks and may go must take; who has taken must settle, once. */
export interface Limit {
  ask(bucket: string, load: Load): Standing
  take(bucket: string, load: Load): void
  /** The call is over and has used so many tokens. */
  settle(bucket: string, load: Load, now: number, used: number): void
}

/** What limits remember, by bucket: plain data, that outlives the instance which made it. */
export interface State {
  /** When each bucket of requests is full again. */
  readonly requests: Map<string, number>
  readonly tokens: Map<string, Minute>
  /** Calls that run. */
  readonly running: Map<string, number>
}

export const emptyState = (): State => ({ requests: new Map(), tokens: new Map(), running: new Map() })

/** Forgets buckets that are as if they had never been used. */
export function sweep({ requests, tokens }: State, now: number): void {
  for (const [bucket, fullAt] of requests) if (fullAt <= now) requests.delete(bucket)
  for (const [bucket, minute] of tokens) if (sumOf(minute, now) === 0) tokens.delete(bucket)
}

/** The limits of bounds, each made once. */
export function limitsIn(state: State): (bound: Bound) => Limit {
  const known = new WeakMap<Bound, Limit>()
  return (bound) => {
    const limit = known.get(bound) ?? limitOf(state, bound)
    known.set(bound, limit)
    return limit
  }
}

function limitOf(state: State, { measure, most, burst = most }: Bound): Limit {
  if (measure === 'requests') return requestLimit(state, most, burst)
  return measure === 'tokens' ? tokenLimit(state, most) : concurrencyLimit(state, most)
}

/** Requests a minute, `burst` of them at once. */
function requestLimit({ requests }: State, perMinute: number, burst: number): Limit {
  const rate: Rate = { intervalMs: 60_000 / perMinute, burst }
  return {
    ask: (bucket, { at }) => levelOf(rate, requests.get(bucket), at),
    take: (bucket, { at }) => void requests.set(bucket, afterRequest(rate, requests.get(bucket), at)),
    settle: () => {},
  }
}

/** Tokens in any minute. A call that may need more than all of them goes when none are taken, and takes all. */
function tokenLimit({ tokens }: State, most: number): Limit {
  const reserved = (load: Load): number => Math.min(load.tokens, most)
  return {
    ask(bucket, load) {
      const minute = tokens.get(bucket)
      if (!minute) return { remaining: most, resetMs: 0, retryMs: 0 }
      return {
        remaining: Math.max(0, most - sumOf(minute, load.at)),
        resetMs: waitMs(minute, load.at, 0),
        retryMs: waitMs(minute, load.at, most - reserved(load)),
      }
    },
    take(bucket, load) {
      const minute = tokens.get(bucket) ?? emptyMinute()
      tokens.set(bucket, minute)
      add(minute, load.at, reserved(load))
    },
    /** What was reserved in vain is given back to its second; what was used beyond it counts from now. */
    settle(bucket, load, now, used) {
      const minute = tokens.get(bucket) ?? emptyMinute()
      tokens.set(bucket, minute)
      const difference = used - reserved(load)
      add(minute, now, difference, difference < 0 ? load.at : now)
    },
  }
}

/** How long a call may take is not known; whoever finds no room is told to come back in a second. */
const aSecondMs = 1000

/** Calls at a time. */
function concurrencyLimit({ running }: State, most: number): Limit {
  const count = (bucket: string): number => running.get(bucket) ?? 0
  return {
    ask(bucket) {
      const remaining = Math.max(0, most - count(bucket))
      return { remaining, resetMs: count(bucket) > 0 ? aSecondMs : 0, retryMs: remaining > 0 ? 0 : aSecondMs }
    },
    take: (bucket) => void running.set(bucket, count(bucket) + 1),
    settle(bucket) {
      const left = count(bucket) - 1
      if (left > 0) running.set(bucket, left)
      else running.delete(bucket)
    },
  }
}
