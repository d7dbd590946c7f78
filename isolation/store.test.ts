import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { collectionConformance } from '../storage/conformance/collections.ts'
import { counterConformance } from '../storage/conformance/counters.ts'
import { migrationConformance } from '../storage/conformance/migrations.ts'
import { sequenceConformance } from '../storage/conformance/sequences.ts'
import { transactionConformance } from '../storage/conformance/transactions.ts'
import type { Engine } from '../storage/index.ts'
import { Gate } from '../storage/level/gate.ts'
import { openLevel } from '../storage/level.ts'
import { GuestStore } from '../storage/shared/guest-store.ts'
import { HostStore } from '../storage/shared/host-store.ts'
import type { PartAsk } from '../storage/shared/messages.ts'
import { errorOf, thrownOf } from '../workers/thrown.ts'

/** A store seen from a worker: everything that crosses is copied, and errors as they cross. */
async function openFar(folder: string): Promise<Engine> {
  const failed = (): void => {}
  const engine = await openLevel(folder)
  const host = new HostStore(
    () => engine,
    async (news) => structuredClone(await guest.hear(structuredClone(news))),
  )
  const gate = new Gate()
  const guest = new GuestStore({
    failed,
    gate,
    async send(ask) {
      try {
        return structuredClone(await host.answer(structuredClone(ask) as PartAsk))
      } catch (error) {
        throw errorOf(structuredClone(thrownOf(error)))
      }
    },
  })
  return {
    ...guest.at([]),
    log: engine.log,
    name: 'far',
    contents: (prefix) => engine.contents(prefix),
    erase: (prefix) => engine.erase(prefix),
    compact: () => engine.compact(),
    copyTo: (folder) => engine.copyTo(folder),
    async close() {
      // Messages sent before also cross before, as when a worker leaves.
      await new Promise((resolve) => setImmediate(resolve))
      await guest.cross('')
      await gate.close()
      host.clear()
      await engine.close()
    },
  }
}

describe('the store of a worker', () => {
  collectionConformance(openFar)
  migrationConformance(openFar)
  sequenceConformance(openFar)
  counterConformance(openFar)
  transactionConformance(openFar)
})

test('a watch that cannot be set up is told of: nothing would ever be heard', async () => {
  const told: unknown[] = []
  const denied = new Error('no store')
  const guest = new GuestStore({
    send: () => Promise.reject(denied),
    failed: (error) => told.push(error),
  })
  guest
    .at([])
    .collection('rows', { schema: z.object({}) })
    .watch(() => {})
  await expect.poll(() => told).toEqual([denied])
})
