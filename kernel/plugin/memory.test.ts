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
