/** Counts the intervals that were set and not cleared. */
export function trackTimers(): { left(): number; restore(): void } {
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
