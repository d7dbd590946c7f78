import { describe, expect, test } from 'vitest'
import type { Claim, Left, Limit } from '#kernel'
import { Ledger } from '../ledger.ts'
import { emptyLedger } from '../ledger-state.ts'

const noon = Date.UTC(2026, 4, 5, 12)
const hourMs = 3_600_000

const concurrency: Limit = { kind: 'concurrency', most: 10 }
const sliding: Limit = { kind: 'sliding', most: 10, windowMs: 6_000 }
const bucket: Limit = { kind: 'bucket', most: 10, windowMs: 6_000, burst: 5 }
const day: Limit = { kind: 'day', most: 10, timezone: 'UTC' }

/** A ledger with counts under one limit, and a clock that stands still. */
function countsOf(limit: Limit, start = noon) {
  const clock = { at: start, wall: start }
  const state = emptyLedger()
  const ledger = new Ledger(state, () => ({ ...clock }))
  const claim = (amount: number): Claim => ({ name: 'k', unit: 'u', limit, amount })
  return {
    wait(ms: number): void {
      clock.at += ms
      clock.wall += ms
    },
    setClock(wall: number): void {
      clock.wall = wall
    },
    take(amount: number): string {
      const answer = ledger.reserve({ budget: 'b', claims: [claim(amount)], owner: 'thr' }, 1)
      return answer.granted ? answer.id : 'refused'
    },
    settle: (id: string, used: number) => ledger.settle(id, { u: used }),
    left: (amount = 1): Left => ledger.left('b', [claim(amount)])[0]!,
    /** Whether the count is still known after counts that are as if they had never been are forgotten. */
    isKept(): boolean {
      ledger.sweep()
      return state.counts.size > 0
    },
  }
}

test.each<[string, Limit, { take: number; wait: number; ask: number }, Left]>([
  ['nothing at a time', concurrency, { take: 0, wait: 0, ask: 10 }, left(0, 10, 0, 0)],
  ['some at a time', concurrency, { take: 4, wait: 0, ask: 6 }, left(4, 6, 1000, 0)],
  ['more than there is room for', concurrency, { take: 4, wait: 0, ask: 10 }, left(4, 6, 1000, 1000)],
  ['more at a time than ever', concurrency, { take: 4, wait: 0, ask: 11 }, left(4, 6, 1000, undefined)],
  ['a part of a window', sliding, { take: 4, wait: 0, ask: 7 }, left(4, 6, 6100, 6100)],
  ['a window a while ago', sliding, { take: 4, wait: 6000, ask: 7 }, left(4, 6, 100, 100)],
  ['a window that is over', sliding, { take: 4, wait: 6100, ask: 10 }, left(0, 10, 0, 0)],
  ['more than a window has', sliding, { take: 4, wait: 0, ask: 11 }, left(4, 6, 6100, undefined)],
  ['a part of a bucket', bucket, { take: 4, wait: 0, ask: 2 }, left(4, 1, 2400, 600)],
  ['a bucket a while ago', bucket, { take: 4, wait: 300, ask: 2 }, left(4, 1, 2100, 300)],
  ['what is left of a bucket', bucket, { take: 4, wait: 0, ask: 1 }, left(4, 1, 2400, 0)],
  ['a bucket that is full again', bucket, { take: 4, wait: 2400, ask: 5 }, left(0, 5, 0, 0)],
  ['more than a bucket holds', bucket, { take: 4, wait: 0, ask: 6 }, left(4, 1, 2400, undefined)],
  ['nothing of a day', day, { take: 0, wait: 0, ask: 10 }, left(0, 10, 0, 0)],
  ['a part of a day', day, { take: 4, wait: hourMs, ask: 10 }, left(4, 6, 11 * hourMs, 11 * hourMs)],
  ['the last moment of a day', day, { take: 4, wait: 12 * hourMs - 1, ask: 7 }, left(4, 6, 1, 1)],
  ['a day that is over', day, { take: 4, wait: 12 * hourMs, ask: 10 }, left(0, 10, 0, 0)],
  ['more than a day has', day, { take: 4, wait: 0, ask: 11 }, left(4, 6, 12 * hourMs, undefined)],
])('what is told of %s', (_, limit, { take, wait, ask }, expected) => {
  const counts = countsOf(limit)
  if (take > 0) counts.take(take)
  counts.wait(wait)
  expect(counts.left(ask)).toEqual(expected)
})

function left(used: number, remaining: number, resetMs: number, retryMs: number | undefined): Left {
  return { used, remaining, resetMs, retryMs }
}

describe('a count is forgotten when it is as if it had never been, and not before:', () => {
  test('what runs at a time, when nothing does', () => {
    const counts = countsOf(concurrency)
    const id = counts.take(4)
    expect(counts.isKept()).toBe(true)
    counts.settle(id, 4)
    expect(counts.isKept()).toBe(false)
  })

  test.each([
    ['a window', sliding, 6100],
    ['a bucket', bucket, 2400],
    ['a day', day, 12 * hourMs],
  ])('%s, when it is over', (_, limit, ms) => {
    const counts = countsOf(limit)
    counts.settle(counts.take(4), 4)
    counts.wait(ms - 1)
    expect(counts.isKept()).toBe(true)
    counts.wait(1)
    expect(counts.isKept()).toBe(false)
  })

  test('a day of which nothing was used', () => {
    const counts = countsOf(day)
    counts.settle(counts.take(4), 0)
    expect(counts.isKept()).toBe(false)
  })
})

test('what was used of a bucket beyond what was reserved is taken from it, also when it was full again', () => {
  const counts = countsOf(bucket)
  counts.settle(counts.take(2), 5)
  expect(counts.left().used).toBe(5)
  const late = countsOf(bucket)
  const id = late.take(4)
  late.wait(10_000)
  expect(late.isKept()).toBe(false)
  late.settle(id, 7)
  expect(late.left().used).toBe(3)
})

test('a bucket flows back all the while, whenever something is taken', () => {
  const counts = countsOf(bucket)
  counts.take(3)
  counts.wait(600)
  counts.take(1)
  expect(counts.left().used).toBe(3)
  counts.wait(1_200)
  expect(counts.left().used).toBe(1)
})

test('what was used of less than reserved does not flow back into a bucket', () => {
  const counts = countsOf(bucket)
  counts.settle(counts.take(4), 1)
  expect(counts.left().used).toBe(4)
})

test('what comes back from a window that is over takes nothing from the one that runs', () => {
  const counts = countsOf(sliding)
  const id = counts.take(5)
  counts.wait(6_100)
  counts.take(7)
  counts.settle(id, 0)
  expect(counts.left().used).toBe(7)
})

test('what was used beyond a reservation of yesterday counts today, if nobody has asked today yet', () => {
  const counts = countsOf(day)
  const id = counts.take(4)
  counts.wait(12 * hourMs)
  counts.settle(id, 9)
  expect(counts.left().used).toBe(5)
})

test('what is reserved in the first moment of a day comes back to it', () => {
  const counts = countsOf(day, noon + 12 * hourMs)
  counts.settle(counts.take(4), 1)
  expect(counts.left().used).toBe(1)
})

test('a clock that is set back a minute over midnight goes on with the day, by more it begins the other', () => {
  const midnight = noon + 12 * hourMs
  const counts = countsOf(day, midnight)
  counts.take(4)
  counts.setClock(midnight - 60_000)
  expect(counts.left().used).toBe(4)
  counts.setClock(midnight - 60_001)
  expect(counts.left().used).toBe(0)
})
