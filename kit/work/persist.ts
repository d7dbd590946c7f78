import { setTimeout } from 'node:timers/promises'

/** How soon is tried again what the store refused, in milliseconds. */
const refusedMs = 1_000

/** Writes until the store takes it: while a disk is full, what is to be recorded waits. */
export async function persist<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'STORE_FAILED')) throw error
      await setTimeout(refusedMs, undefined, { ref: false })
    }
  }
}
