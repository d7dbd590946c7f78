import type { Limit } from '#kernel'
import type { Kind } from './kind.ts'

type Concurrency = Extract<Limit, { kind: 'concurrency' }>

/** The duration of a call is not known, so a refused caller is asked to retry in a second. */
const aSecondMs = 1000

export const concurrency: Kind<Concurrency, { running: number }> = {
  key: () => '',
  fresh: () => ({ running: 0 }),
  look({ running }, { most }, amount) {
    const remaining = Math.max(0, most - running)
    const retryMs = amount <= remaining ? 0 : amount <= most ? aSecondMs : undefined
    return { used: running, remaining, resetMs: running > 0 ? aSecondMs : 0, retryMs }
  },
  take(count, _, amount) {
    count.running += amount
  },
  settle(count, _, { amount }) {
    count.running = Math.max(0, count.running - amount)
  },
  isIdle: ({ running }) => running === 0,
  pack: () => undefined,
  unpack: () => ({ running: 0 }),
}
