import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LogOptions, StoreProblem } from '../index.ts'
import { Gate } from './gate.ts'
import { LogIntake, reportRefused } from './log-intake.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

interface Event {
  readonly id: string
}

const options: LogOptions<Event> = { id: ({ id }) => id, time: () => 1, fields: { all: () => 1 } }
/** 10 characters of JSON. */
const event: Event = { id: 'a' }
const defaultFlushMs = 250

/** An intake, how often it asked for a write, and a disk that may refuse. */
function opened(given: LogOptions<Event> = options) {
  const seen = { writes: 0, problems: [] as StoreProblem[], refuses: false }
  const gate = new Gate()
  const intake = new LogIntake(given, {
    path: 'events',
    gate,
    report: (problem) => seen.problems.push(problem),
    async flush() {
      seen.writes += 1
      if (seen.refuses) throw new Error('full')
      intake.queue.settle(intake.queue.take())
    },
  })
  const append = (rows: number): void => {
    for (let n = 0; n < rows; n++) intake.append(event, undefined)
  }
  return { intake, gate, seen, append }
}

test.for([
  [undefined, defaultFlushMs],
  [40, 40],
])(
  'rows that come within the time of the first are written together, again and again',
  async ([given, ms]) => {
    const { intake, seen, append } = opened({ ...options, ...(given !== undefined && { flushMs: given }) })
    for (let writes = 0; writes < 2; writes++) {
      append(1)
      await vi.advanceTimersByTimeAsync(ms! - 1)
      append(1)
      expect([seen.writes, intake.status()]).toEqual([writes, { depth: 2, bytes: 20, dropped: 0 }])
      await vi.advanceTimersByTimeAsync(1)
      expect([seen.writes, intake.status()]).toEqual([writes + 1, { depth: 0, bytes: 0, dropped: 0 }])
    }
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('many rows, or large ones, are written at once, and the wait ends with them', async () => {
  const { intake, seen, append } = opened()
  append(127)
  expect(seen.writes).toBe(0)
  append(1)
  expect([seen.writes, vi.getTimerCount()]).toEqual([1, 0])
  await vi.advanceTimersByTimeAsync(0)
  const most = 1024 * 1024 - 10
  intake.append(event, () => 'x'.repeat(most - 1))
  expect([seen.writes, vi.getTimerCount()]).toEqual([1, 1])
  intake.rest()
  expect(vi.getTimerCount()).toBe(0)
  intake.queue.settle(intake.queue.take())
  intake.append(event, () => 'x'.repeat(most))
  expect(seen.writes).toBe(2)
})

test('what is refused is tried again in a second, however many rows come, and reported once', async () => {
  const { intake, seen, append } = opened()
  seen.refuses = true
  append(1)
  await vi.advanceTimersByTimeAsync(defaultFlushMs)
  expect([seen.writes, intake.isPostponed]).toEqual([1, true])
  expect(seen.problems).toMatchObject([{ code: 'STORE_FAILED', part: 'events' }])
  append(600)
  await vi.advanceTimersByTimeAsync(999)
  expect(seen.writes).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect([seen.writes, seen.problems.length]).toEqual([2, 1])
  seen.refuses = false
  await vi.advanceTimersByTimeAsync(1000)
  expect([seen.writes, intake.status().depth]).toEqual([3, 0])

  intake.resume()
  expect(intake.isPostponed).toBe(false)
  append(128)
  expect(seen.writes).toBe(4)
})

test('once the gate is closed rows are dropped and counted, and nothing is postponed', async () => {
  const { intake, gate, seen, append } = opened()
  await gate.close()
  append(2)
  intake.postpone()
  expect(intake.status()).toEqual({ depth: 0, bytes: 0, dropped: 2 })
  expect([intake.isPostponed, vi.getTimerCount(), seen.problems]).toEqual([false, 0, []])
})

test('a full queue asks for no body, and counts the row as dropped', () => {
  const { intake } = opened({ ...options, maxQueueBytes: 14 })
  intake.append(event, () => 'body')
  const body = vi.fn(() => 'body')
  intake.append(event, body)
  expect(body).not.toHaveBeenCalled()
  expect(intake.status()).toEqual({ depth: 1, bytes: 14, dropped: 1 })
})

test('a queue holds 64 MB unless its options say otherwise', () => {
  const { intake } = opened()
  expect(intake.queue.maxBytes).toBe(64 * 1024 * 1024)
  intake.reshape({ ...options, maxQueueBytes: 5 })
  expect(intake.queue.maxBytes).toBe(5)
  intake.reshape(options)
  expect(intake.queue.maxBytes).toBe(64 * 1024 * 1024)
})

test('newer options hold for the wait at once, and for the facts of rows when they are adopted', async () => {
  const { intake, seen, append } = opened()
  const newer = { ...options, flushMs: 10, fields: { all: () => 2 } }
  intake.reshape(newer)
  append(1)
  intake.adopt(newer)
  append(1)
  const taken = intake.queue.take()
  expect(taken.rows.map(({ facts }) => facts.values)).toEqual([[1], [2]])
  await vi.advanceTimersByTimeAsync(10)
  expect(seen.writes).toBe(1)
  intake.reshape(options)
  append(1)
  await vi.advanceTimersByTimeAsync(defaultFlushMs - 1)
  expect(seen.writes).toBe(1)
  intake.rest()
})

test('a row whose body cannot be made is kept without it, and a row that is none is told of as such', () => {
  const { intake, seen } = opened()
  intake.append(event, () => {
    throw new Error('no body')
  })
  expect(seen.problems).toMatchObject([{ code: 'ROW_INVALID', part: 'events' }])
  expect(intake.queue.take().rows).toMatchObject([{ json: '{"id":"a"}', body: undefined }])

  intake.append({ id: '' }, undefined)
  intake.append({ id: '' }, undefined)
  expect(intake.status().dropped).toBe(2)
  const told: StoreProblem[] = []
  for (let n = 0; n < 2; n++) reportRefused(intake.queue, 'events', (problem) => told.push(problem))
  const message = '2 rows were dropped: they are not JSON, or have no id or time.'
  expect(told).toEqual([{ code: 'ROW_INVALID', part: 'events', message }])
})

test('fields and numbers whose names no index can have are refused', () => {
  const invalid = { code: 'NAME_INVALID' }
  for (const wrong of [{ fields: { 'a!': () => 1 } }, { numbers: { 'a!': () => 1 } }]) {
    expect(() => opened({ ...options, ...wrong })).toThrow(expect.objectContaining(invalid))
    const { intake } = opened()
    expect(() => intake.reshape({ ...options, ...wrong })).toThrow(expect.objectContaining(invalid))
  }
  expect(() => opened({ id: () => 'a', time: () => 1 })).not.toThrow()
})
