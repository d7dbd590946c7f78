import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Memory } from './memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a value is made once', () => {
  const memory = new Memory()
  memory.value('counts', () => new Map([['a', 1]]))
  expect(memory.value('counts', () => new Map<string, number>()).get('a')).toBe(1)
})

test('what fades is kept when it is wanted again in time, and forgotten when it is not', () => {
  const memory = new Memory()
  memory.value('n', () => 1)
  memory.fade(1000)
  vi.advanceTimersByTime(999)
  memory.keep()
  vi.advanceTimersByTime(10_000)
  expect(memory.value('n', () => 2)).toBe(1)

  memory.fade(1000)
  memory.fade(1000)
  vi.advanceTimersByTime(1000)
  expect(memory.value('n', () => 2)).toBe(2)
})

test('who recalls while a source ends waits for what it had last', async () => {
  const memory = new Memory()
  memory.value('n', () => 1)
  const source = () => Promise.reject(new Error('it ends'))
  memory.source = source
  const ending = Promise.withResolvers<{ n: number }>()
  const returned = memory.returned(source, ending.promise)
  const recalled = memory.recall()
  ending.resolve({ n: 2 })
  await recalled
  expect(memory.value('n', () => 0)).toBe(2)
  await returned
  expect(memory.source).toBeUndefined()
})

test('what an older source had comes too late once another has its place', async () => {
  const memory = new Memory()
  const old = async () => ({ n: 1 })
  const next = async () => ({ n: 2 })
  memory.source = next
  await memory.returned(old, old())
  await memory.recall()
  expect(memory.value('n', () => 0)).toBe(2)
  expect(memory.source).toBe(next)
})
