import { EventEmitter } from 'node:events'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { acquire } from '../../fixtures/leaks/acquire.ts'
import { leavesNothing } from './index.ts'

const releases: (() => unknown)[] = []

afterEach(async () => {
  for (const release of releases.splice(0)) await release()
})

const folders = [path.resolve('test/fixtures/leaks')]
const hear = (): void => {}

test.each(Object.entries(acquire))(
  '%s that stays is found, and given back is not',
  async (_, [take, found]) => {
    const leak = async (): Promise<void> => void releases.push(await take())
    await expect(leavesNothing(folders, 3, leak, 50)).rejects.toThrow(found)
    await leavesNothing(folders, 3, async () => void (await (await take())()))
  },
)

test('what others made meanwhile is not found, unless it is as often as the plugin was started', async () => {
  const elsewhere = ['/somewhere/else']
  const serve = acquire['a server']![0]
  let made = 0
  const once = async (): Promise<void> => {
    made += 1
    if (made === 1) releases.push(await serve())
  }
  await leavesNothing(elsewhere, 3, once)
  await expect(
    leavesNothing(elsewhere, 3, async () => void releases.push(await serve()), 50),
  ).rejects.toThrow(/servers/)
  await leavesNothing(elsewhere, 3, async () => {
    const timer = setTimeout(hear, 60_000)
    releases.push(() => clearTimeout(timer))
  })
})

test('listeners on what goes with the plugin, and deadlines, are no matter', async () => {
  await leavesNothing([import.meta.dirname, ...folders], 3, async () => {
    new EventEmitter().on('thing', hear).on('thing', hear)
    AbortSignal.timeout(60_000).addEventListener('abort', hear)
  })
})
