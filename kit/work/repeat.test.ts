import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeat } from './repeat.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})

afterEach(() => {
  vi.useRealTimers()
})

test('it runs after each interval, never twice at a time, and not any more once it has ended', async () => {
  let runs = 0
  let done = Promise.withResolvers<void>()
  const end = repeat(
    100,
    () => {
      runs += 1
      return done.promise
    },
    () => {},
  )
  await vi.advanceTimersByTimeAsync(99)
  expect(runs).toBe(0)
  await vi.advanceTimersByTimeAsync(301)
  expect(runs).toBe(1)
  done.resolve()
  await vi.advanceTimersByTimeAsync(100)
  expect(runs).toBe(2)
  done = Promise.withResolvers()
  await vi.advanceTimersByTimeAsync(100)
  expect(runs).toBe(3)
  let hasEnded = false
  const ended = end().then(() => {
    hasEnded = true
  })
  await vi.advanceTimersByTimeAsync(500)
  expect([runs, hasEnded]).toEqual([3, false])
  done.resolve()
  await ended
  await vi.advanceTimersByTimeAsync(500)
  expect(runs).toBe(3)
})

test('a run that fails is told, and the next one runs', async () => {
  const failures: unknown[] = []
  let runs = 0
  const failure = new Error('no')
  const end = repeat(
    10,
    () => {
      runs += 1
      if (runs === 1) throw failure
      if (runs === 2) return Promise.reject(failure)
      return undefined
    },
    (error) => failures.push(error),
  )
  await vi.advanceTimersByTimeAsync(30)
  await end()
  expect(failures).toEqual([failure, failure])
  expect(runs).toBe(3)
})
