import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Handles } from './handles.ts'
import { Listeners } from './listeners.ts'

/**
 * Runs several times what starts and ends a plugin, whose code lies in these folders. Rejects when timers, handles or
 * listeners are left that were made meanwhile; it may take `patienceMs` to let go of them.
 */
export async function leavesNothing(
  folders: readonly string[],
  times: number,
  cycle: () => Promise<void>,
  patienceMs = 1_000,
): Promise<void> {
  const handles = new Handles(folders)
  const listeners = new Listeners()
  const left = (): string[] => [...handles.left(times), ...listeners.left()]
  try {
    for (let n = 0; n < times; n += 1) {
      listeners.cycle = n
      await cycle()
    }
    for (let waited = 0; left().length > 0 && waited < patienceMs; waited += 10) await sleep(10)
    assert.deepEqual(left(), [], `${left().join('; ')}: give back in ctx.own what ctx did not hand out`)
  } finally {
    listeners.stop()
    handles.stop()
  }
}
