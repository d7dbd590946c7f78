import type { Limit } from '#kernel'
import { periodAt } from '#kit'
import { capped, type Kind, type Now } from './kind.ts'

type Calendar = Extract<Limit, { timezone: string }>

/** The amount used in a period. */
interface Sum {
  start: number
  end: number
  used: number
}

/** How far a clock may be set back into a period that is over without bringing it back. */
const adjustmentMs = 60_000

/** So much in each day or month. */
export const period: Kind<Calendar, Sum> = {
  key: ({ timezone }) => timezone,
  fresh: (limit, { wall }) => ({ ...periodAt(wall, limit), used: 0 }),
  look(sum, limit, amount, now) {
    turn(sum, limit, now)
    const remaining = Math.max(0, limit.most - sum.used)
    const endsIn = Math.max(0, sum.end - now.wall)
    return {
      used: sum.used,
      remaining,
      resetMs: sum.used > 0 ? endsIn : 0,
      retryMs: amount <= remaining ? 0 : amount <= limit.most ? endsIn : undefined,
    }
  },
  take(sum, limit, amount, now) {
    turn(sum, limit, now)
    sum.used = capped(sum.used + amount)
  },
  /** A reservation of a past period is not given back to the current one. */
  settle(sum, limit, { amount, wall }, used, now) {
    turn(sum, limit, now)
    const difference = wall < sum.start ? Math.max(0, used - amount) : used - amount
    sum.used = capped(Math.max(0, sum.used + difference))
  },
  isIdle: ({ used, end }, { wall }) => used === 0 || wall >= end,
  pack({ start, end, used }, reserved) {
    const held = reserved.reduce((sum, { amount, wall }) => (wall >= start ? sum + amount : sum), 0)
    return used > held ? [start, end, used - held] : undefined
  },
  unpack: ([start = 0, end = 0, used = 0]) => ({ start, end, used }),
}

/** Begins the period that runs now. */
function turn(sum: Sum, limit: Calendar, { wall }: Now): void {
  if (wall < sum.end && wall >= sum.start - adjustmentMs) return
  Object.assign(sum, periodAt(wall, limit), { used: 0 })
}
