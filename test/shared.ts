import { beforeAll } from 'vitest'

/**
 * What the tests of a file share: started before the first of them, closed after the last. It is empty until then, so
 * tests and hooks take its parts when they run, and no sooner.
 */
export function shared<T extends { close(): Promise<void> }>(start: () => Promise<T>): T {
  const running = {} as T
  beforeAll(async () => {
    Object.assign(running, await start())
    return () => running.close()
  })
  return running
}
