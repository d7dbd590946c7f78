import type { Limit } from '#kernel'
import { capped, type Kind } from './kind.ts'

type Sliding = Extract<Limit, { kind: 'sliding' }>

const parts = 60
/** One more than a window's parts, so that no stretch of a window holds more than the sum of the slots. */
const slotCount = parts + 1

/** Amounts by parts of a window, and their sum. */
interface Sums {
  readonly slotMs: number
  readonly slots: number[]
  sum: number
  /** The newest part, counted from the epoch. */
  newest: number
}

const emptySums = (slotMs: number, newest: number): Sums => ({
  slotMs,
  slots: Array.from({ length: slotCount }, () => 0),
  sum: 0,
  newest,
})

export const sliding: Kind<Sliding, Sums> = {
  key: ({ windowMs }) => String(windowMs),
  fresh({ windowMs }, { at }) {
    const slotMs = Math.ceil(windowMs / parts)
    return emptySums(slotMs, Math.floor(at / slotMs))
  },
  look(sums, { most }, amount, { at }) {
    advance(sums, at)
    return {
      used: sums.sum,
      remaining: Math.max(0, most - sums.sum),
      resetMs: waitMs(sums, at, 0),
      retryMs: amount > most ? undefined : waitMs(sums, at, most - amount),
    }
  },
  take: (sums, _, amount, { at }) => add(sums, at, amount, at),
  settle(sums, _, { amount, at }, used, now) {
    const difference = used - amount
    if (difference !== 0) add(sums, now.at, difference, difference < 0 ? at : now.at)
  },
  isIdle(sums, { at }) {
    advance(sums, at)
    return sums.sum === 0
  },
  pack({ slotMs, slots, newest }, reserved) {
    const settled = slots.slice()
    for (const { at, amount } of reserved) {
      const slot = Math.floor(at / slotMs)
      if (newest - slot < slotCount) settled[slot % slotCount]! -= amount
    }
    const packed = [slotMs]
    for (let slot = newest - parts; slot <= newest; slot += 1) {
      const amount = settled[slot % slotCount]!
      if (amount > 0) packed.push(slot, amount)
    }
    return packed.length > 1 ? packed : undefined
  },
  /** A time in the future, as after the clock was set back, counts as now. */
  unpack([slotMs = 1, ...pairs], { at }) {
    const now = Math.floor(at / slotMs)
    const sums = emptySums(slotMs, now)
    const ahead = Math.max(0, (pairs.at(-2) ?? now) - now)
    for (let i = 0; i < pairs.length; i += 2) add(sums, at, pairs[i + 1]!, (pairs[i]! - ahead) * slotMs)
    return sums
  },
}

/** Adds an amount, negative ones too, to the part of `at`; one that has left the window is gone already. */
function add(sums: Sums, now: number, amount: number, at: number): void {
  advance(sums, now)
  const slot = Math.floor(at / sums.slotMs)
  if (sums.newest - slot >= slotCount) return
  const before = sums.slots[slot % slotCount]!
  const after = capped(Math.max(0, before + amount))
  sums.slots[slot % slotCount] = after
  sums.sum = capped(sums.sum + after - before)
}

/** Milliseconds until the sum is no more than `most`, if nothing is added. */
function waitMs({ slots, slotMs, newest, sum }: Sums, now: number, most: number): number {
  let left = sum
  let wait = 0
  for (let slot = newest - parts; left > most && slot <= newest; slot += 1) {
    left -= slots[slot % slotCount]!
    wait = (slot + slotCount) * slotMs - now
  }
  return wait
}

/** Empties the slots of the parts that have passed since. */
function advance(sums: Sums, now: number): void {
  const slot = Math.floor(now / sums.slotMs)
  const passed = Math.min(slot - sums.newest, slotCount)
  for (let n = 1; n <= passed; n += 1) {
    const old = (sums.newest + n) % slotCount
    sums.sum = Math.max(0, sums.sum - sums.slots[old]!)
    sums.slots[old] = 0
  }
  sums.newest = Math.max(sums.newest, slot)
}
