import { setImmediate as aTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Chunk } from '../canonical/chunk.ts'
import { Cancel } from '../work/cancel.ts'
import { partsOf } from './parts-of-batch.ts'

const batch = Array.from({ length: 1000 }, (_, created) => Chunk.of({ created, choices: [] }))

test('a batch comes in parts, whole and in order, with turns in between', async () => {
  let turns = 0
  let isOver = false
  const counted = (async () => {
    for (; !isOver; turns += 1) await aTurn()
  })()
  const parts: (readonly Chunk[])[] = []
  for await (const part of partsOf(batch, new Cancel())) {
    parts.push(part)
    const until = performance.now() + 11
    while (performance.now() < until);
  }
  isOver = true
  await counted
  expect(parts.flat()).toEqual(batch)
  expect(parts.map(({ length }) => length)).toEqual([256, 256, 256, 232])
  expect(turns).toBeGreaterThanOrEqual(3)
})

test('nothing more comes once nobody waits for it', async () => {
  const cancel = new Cancel()
  const parts = partsOf(batch, cancel)
  await parts.next()
  cancel.abort(new Error('the client left'))
  await expect(parts.next()).rejects.toThrow('the client left')
})
