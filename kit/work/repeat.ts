import { contain } from './contain.ts'

/** Runs again and again, the next run only after the one before; returns what ends it. */
export function repeat(
  ms: number,
  run: () => unknown,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined
  const attempt = async (): Promise<void> => {
    try {
      await run()
    } catch (error) {
      onError(error)
    }
  }
  const tick = contain('a periodic task', () => {
    if (running) return undefined
    // Cleared a turn later at the earliest: a run that throws at once must not be taken for one that goes on.
    running = attempt().finally(() => {
      running = undefined
    })
    return running
  })
  const timer = setInterval(tick, ms)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running?.catch(() => {})
  }
}
