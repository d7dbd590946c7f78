import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Attempt, type Call, noUsage, type Outcome } from '#kernel'
import type { Counters, Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { UsageMeter } from './meter.ts'

let folder: string
let engine: Engine
let meter: UsageMeter

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-meter-'))
  engine = await openLevel(folder)
  meter = new UsageMeter(await engine.counters('usage'))
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const outcome = (fields: Partial<Outcome> = {}) =>
  ({ status: 200, usage: { ...noUsage, input: 7, output: 3 }, cost: undefined, ...fields }) as Outcome

const callOf = (
  userId: string | undefined,
  at: string,
  { source = 'proxy', attempts = [] }: { source?: string; attempts?: readonly Partial<Attempt>[] } = {},
) => ({ principal: { userId }, trace: { startedAt: Date.parse(at), attempts }, context: { source } }) as Call

test('a call counts in the month it came in, by UTC', () => {
  meter.add(outcome(), callOf('usr_1', '2026-11-30T23:59:59.999Z'))
  meter.add(outcome(), callOf('usr_1', '2026-12-01T00:00:00.000Z'))
  meter.add(outcome(), callOf('usr_1', '2026-12-31T23:30:00-01:00'))
  const requests = ['2026-11', '2026-12', '2027-01'].map((period) => meter.read('usr_1', period).requests)
  expect(requests).toEqual([1, 1, 1])
})

test('calls of nobody, those that reached nothing and attacks of the red team do not count; failed ones do, with what they used', () => {
  const at = '2026-11-05T00:00:00Z'
  const attempts = [{ isSent: true }]
  meter.add(outcome(), callOf(undefined, at))
  for (const status of [400, 429, 499, 503]) {
    meter.add(outcome({ status }), callOf('usr_1', at))
    meter.add(outcome({ status }), callOf('usr_1', at, { attempts: [{}] }))
  }
  meter.add(outcome(), callOf('usr_1', at, { source: 'redteam' }))
  meter.add(outcome({ status: 502, usage: noUsage }), callOf('usr_1', at, { attempts }))
  meter.add(outcome({ status: 499 }), callOf('usr_1', at, { attempts: [{}, ...attempts] }))
  expect(meter.read('usr_1', '2026-11')).toMatchObject({
    requests: 2,
    tokens_in: 7,
    tokens_out: 3,
    cost_usd: 0,
  })
})

test('sums of money are exact', () => {
  const cost = { totalNano: 100 } as Outcome['cost']
  for (let n = 0; n < 1000; n += 1) meter.add(outcome({ cost }), callOf('usr_1', '2026-11-05T00:00:00Z'))
  expect(meter.read('usr_1', '2026-11').cost_usd).toBe(0.0001)
})

test('only the latest months are kept, the current one included', () => {
  for (const month of ['2025-10', '2025-11', '2025-12', '2026-01']) {
    meter.add(outcome(), callOf('usr_1', `${month}-05T00:00:00Z`))
  }
  meter.prune(3, new Date('2026-01-31T12:00:00Z'))
  const left = ['2025-10', '2025-11', '2025-12', '2026-01'].map(
    (period) => meter.read('usr_1', period).requests,
  )
  expect(left).toEqual([0, 1, 1, 1])
})

test('a user is forgotten in every month, and nobody else is', () => {
  for (const user of ['usr_1', 'usr_12']) {
    for (const month of ['2026-01', '2026-02']) meter.add(outcome(), callOf(user, `${month}-05T00:00:00Z`))
  }
  const now = new Date('2026-02-28T12:00:00Z')
  expect(meter.count('usr_1', 2, now)).toBe(2)
  expect(meter.clear('usr_1', 2, now)).toBe(2)
  expect(meter.count('usr_1', 2, now)).toBe(0)
  for (const month of ['2026-01', '2026-02']) {
    const left = ['usr_1', 'usr_12'].map((user) => meter.read(user, month).requests)
    expect(left).toEqual([0, 1])
  }
})

test('a user is forgotten in the month that waits to be pruned, and in one that a clock was ahead of', async () => {
  const counters = await engine.counters('usage')
  for (const month of ['2025-11', '2025-12', '2026-03'])
    meter.add(outcome(), callOf('usr_1', `${month}-05T00:00:00Z`))
  expect(meter.clear('usr_1', 3, new Date('2026-02-01T00:00:00Z'))).toBe(3)
  expect(counters.entries()).toEqual([])
})

test('to forget a user takes as many steps among many users as among few', async () => {
  const stored = await engine.counters('usage')
  const now = new Date('2026-02-28T12:00:00Z')
  const stepsAmong = (users: number): number => {
    for (let n = 0; n < users; n += 1) meter.add(outcome(), callOf(`usr_${n}`, '2026-02-05T00:00:00Z'))
    let looked = 0
    const watched: Counters = {
      add: (name, amount) => stored.add(name, amount),
      set: (name, value) => stored.set(name, value),
      flush: () => stored.flush(),
      get(name) {
        looked += 1
        return stored.get(name)
      },
      delete(name) {
        looked += 1
        stored.delete(name)
      },
      entries(prefix) {
        looked += stored.entries().length
        return stored.entries(prefix)
      },
      clear(prefix) {
        looked += stored.entries().length
        stored.clear(prefix)
      },
    }
    expect(new UsageMeter(watched).clear('usr_1', 12, now)).toBe(1)
    return looked
  }
  const amongFew = stepsAmong(2)
  expect(stepsAmong(3000)).toBe(amongFew)
})
