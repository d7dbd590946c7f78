import { expect, test } from 'vitest'
import { cancel, complete, errorOf, failAttempt, retry } from './changes.ts'
import type { JobRow } from './row.ts'

const row: JobRow = {
  id: 'k:a',
  kind: 'k',
  lane: '',
  status: 'waiting',
  input: null,
  attempts: 1,
  addedAt: 0,
  dueAt: 9_000,
}

test('a job that waits for its next attempt is due at once when it is tried again, and the attempts stay counted', () => {
  expect(retry(row, 5)).toEqual({ ...row, dueAt: 5 })
})

test.for(['failed', 'cancelled'] as const)('one that was %s begins anew', (status) => {
  const { dueAt: _, ...ended } = row
  expect(retry({ ...ended, status, endedAt: 4 }, 5)).toEqual({ ...row, attempts: 0, dueAt: 5 })
})

test.for(['running', 'completed'] as const)('one that is %s is not tried again', (status) => {
  expect(() => retry({ ...row, status }, 5)).toThrow(status)
})

test('a job without a result has none, and one that has ended is not cancelled', () => {
  const done = complete({ ...row, error: { message: 'before' } }, undefined, 5)
  expect(done).not.toHaveProperty('result')
  expect(done).not.toHaveProperty('error')
  expect(() => cancel(done, 6)).toThrow('completed')
})

test('what is kept of an error is short, and puts the next attempt off by an hour at the most', () => {
  expect(errorOf(new Error('x'.repeat(5_000))).message).toHaveLength(1_000)
  const late = Object.assign(new Error('later'), { retryAfterS: 100_000 })
  const next = failAttempt({ ...row, attempts: 0 }, late, { error: errorOf(late), delaysMs: [5], now: 10 })
  expect(next).toMatchObject({ status: 'waiting', attempts: 1, dueAt: 3_600_010 })
})
