import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long an instance may take to let go of what it has, in milliseconds. */
const patienceMs = 1_000

/** Runs what starts and ends a plugin. Rejects when intervals are left that were set in the meantime. */
export async function returnsTimers(run: () => Promise<void>): Promise<void> {
  const timers = trackTimers()
  try {
    await run()
    for (let waited = 0; timers.left() > 0 && waited < patienceMs; waited += 10) await sleep(10)
    assert.equal(timers.left(), 0, 'intervals keep running: set them with ctx.every')
  } finally {
    timers.restore()
  }
}

/** Counts the intervals that were set and not cleared. */
function trackTimers(): { left(): number; restore(): void } {
  const running = new Set<unknown>()
  const set = globalThis.setInterval
  const clear = globalThis.clearInterval
  globalThis.setInterval = ((...args: Parameters<typeof set>) => {
    const timer = set(...args)
    running.add(timer)
    return timer
  }) as typeof set
  globalThis.clearInterval = (timer) => {
    running.delete(timer)
    clear(timer)
  }
  const restore = (): void => {
    globalThis.setInterval = set
    globalThis.clearInterval = clear
  }
  return { left: () => running.size, restore }
}
