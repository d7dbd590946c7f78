import { setImmediate as breathe } from 'node:timers/promises'

const turnMs = 10

/**
 * For long work in one thread: call the result often, and await what it returns. Every 10 ms it lets other work have a turn, and
 * in between it returns nothing.
 */
export function takingTurns(): () => Promise<void> | undefined {
  let ends = performance.now() + turnMs
  const rest = async (): Promise<void> => {
    await breathe()
    ends = performance.now() + turnMs
  }
  return () => (performance.now() < ends ? undefined : rest())
}
