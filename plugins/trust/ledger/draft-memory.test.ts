import { expect, test } from 'vitest'
import { DraftMemory } from './draft-memory.ts'

const draft = { at: 1, json: '{"n":1}', digests: [] }
const size = 1000

test('memory is used again once what was in it is written, without the drafts that it had', () => {
  const memory = new DraftMemory()
  const first = memory.take(size, 0)
  const empty = Buffer.from(first.bytes)
  first.add(draft)
  memory.giveBack(first)
  const second = memory.take(size, 1)
  expect(second).not.toBe(first)
  memory.giveBack(second)
  const third = memory.take(size, 1)
  expect(third).toBe(first)
  expect(Buffer.from(third.bytes)).toEqual(empty)
})

test('memory that another thread is about to get is not used again', () => {
  const memory = new DraftMemory()
  const lent = memory.take(size, 0)
  lent.isLent = true
  memory.giveBack(lent)
  expect(memory.take(size, 0)).not.toBe(lent)
})

test('memory of a long batch is not kept, nor that of very many', () => {
  const memory = new DraftMemory()
  const long = memory.take(size, 0)
  long.add({ ...draft, digests: ['x'.repeat(2 * 1024 * 1024)] })
  memory.giveBack(long)
  expect(memory.take(size, 0)).not.toBe(long)
  const many = new Set(Array.from({ length: 20 }, (_, n) => memory.take(size, n)))
  for (const drafts of many) memory.giveBack(drafts)
  const again = Array.from({ length: 20 }, () => memory.take(size, 0))
  expect(again.filter((drafts) => many.has(drafts))).toHaveLength(8)
})
