import type { Limit } from '#kernel'
import { capped, type Kind } from './kind.ts'

type Bucket = Extract<Limit, { kind: 'bucket' }>

/** The amount missing in a bucket, as of a time: it flows back from then on. */
interface Level {
  at: number
  used: number
  /** Flowing back in a millisecond, by the limit that was met last. */
  perMs: number
}

/** Of one amount, so that rounding never costs any. */
const rounding = 1e-6

/** The generic cell rate algorithm (ITU-T I.371, annex A), as a token bucket: `burst` at once, `most` in a window. */
export const bucket: Kind<Bucket, Level> = {
  key: ({ windowMs }) => String(windowMs),
  fresh: ({ most, windowMs }, { at }) => ({ at, used: 0, perMs: most / windowMs }),
  look(level, { most, windowMs, burst }, amount, { at }) {
    const used = usedAt(level, at, most / windowMs)
    /** To the microsecond, so that a rounding error is never a second more for clients that count in seconds. */
    const msFor = (back: number): number => Math.max(0, Math.round((back * windowMs * 1e3) / most) / 1e3)
    const missing = used + amount - burst
    return {
      used: Math.max(0, Math.ceil(used - rounding)),
      remaining: Math.max(0, Math.floor(burst - used + rounding)),
      resetMs: msFor(used),
      retryMs: missing <= rounding ? 0 : amount > burst ? undefined : msFor(missing),
    }
  },
  take(level, { most, windowMs }, amount, { at }) {
    level.used = capped(usedAt(level, at, most / windowMs) + amount)
    level.at = Math.max(level.at, at)
    level.perMs = most / windowMs
  },
  /** Gives nothing back: an amount that has flowed back since looks the same as one that was never used. */
  settle(level, limit, { amount }, used, now) {
    if (used > amount) this.take(level, limit, used - amount, now)
  },
  isIdle: (level, { at }) => usedAt(level, at, level.perMs) <= rounding,
  pack: ({ at, used, perMs }) => [at, used, perMs],
  unpack: ([at = 0, used = 0, perMs = 0], now) => ({ at: Math.min(at, now.at), used, perMs }),
}

const usedAt = ({ at, used }: Level, now: number, perMs: number): number =>
  Math.max(0, used - Math.max(0, now - at) * perMs)
