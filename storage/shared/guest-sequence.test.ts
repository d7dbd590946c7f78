import { expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { collect } from '../conformance/harness.ts'
import { withEnds } from './ends-parts.ts'
import { Entry, next } from './threads-parts.ts'

test.skipIf(!hasFullDevice)(
  'entries that the disk refuses wait in their thread, which reads what is there',
  () =>
    withEnds(async (a, _, { engine, folder }) => {
      const ledger = a.sequence('ledger', Entry)
      await ledger.append(next)
      await fillUp(folder, engine.compact)
      const refused = { code: 'STORE_FAILED' }
      await expect(ledger.append(next)).rejects.toMatchObject(refused)
      for (let n = 0; n < 3; n++) ledger.queue(next)
      expect(await ledger.last()).toBe(1)
      expect(await ledger.get(1)).toEqual({ seq: 1, after: 0 })
      expect(await collect(ledger.scan())).toEqual([{ seq: 1, after: 0 }])
      await expect(ledger.flush()).rejects.toMatchObject(refused)
      expect(ledger.status()).toEqual({ depth: 3, dropped: 0 })
      await vi.waitFor(() => expect(ledger.status()).toEqual({ depth: 0, dropped: 0 }), 10_000)
      expect(await collect(ledger.scan(2))).toEqual([2, 3, 4].map((seq) => ({ seq, after: seq - 1 })))
    }),
)

test('a queued entry that cannot be made is told of', async () => {
  const failed: unknown[] = []
  await withEnds(
    async (a) => {
      const ledger = a.sequence('ledger', Entry)
      ledger.queue(() => {
        throw new Error('out of order')
      })
      ledger.queue(next)
      expect(await ledger.last()).toBe(1)
      expect(ledger.status()).toEqual({ depth: 0, dropped: 1 })
    },
    { failed: (error) => failed.push(error) },
  )
  expect(failed).toMatchObject([{ message: 'out of order' }])
})
