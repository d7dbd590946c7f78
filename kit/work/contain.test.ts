import { afterAll, afterEach, expect, test } from 'vitest'
import { Cohort } from './cohort.ts'
import { contain, detach, onContained } from './contain.ts'
import { Countdowns } from './countdown.ts'

const told: [origin: string, message: string][] = []
const end = onContained((origin, error) => told.push([origin, (error as Error).message]))

afterAll(end)

afterEach(() => {
  told.length = 0
})

test('what work throws or rejects with is told with its origin, and goes no further', async () => {
  contain('a timer', () => {
    throw new Error('at once')
  })()
  contain('a message', async () => {
    throw new Error('later')
  })()
  detach('a promise', Promise.reject(new Error('alone')))
  await expect.poll(() => told).toHaveLength(3)
  expect(told).toEqual([
    ['a timer', 'at once'],
    ['a message', 'later'],
    ['a promise', 'alone'],
  ])
})

test('work is given what Node gives, and a listener that fails keeps no other from hearing', () => {
  const given: unknown[] = []
  const broken = onContained(() => {
    throw new Error('broken')
  })
  contain('any', (...args: readonly number[]) => {
    given.push(...args)
    throw new Error('x')
  })(1, 2)
  broken()
  expect(given).toEqual([1, 2])
  expect(told).toEqual([['any', 'x']])
})

test('one of a cohort that fails keeps no other waiting', async () => {
  const cohort = new Cohort()
  for (let n = 0; n < 4; n++) cohort.enter()
  const went = await new Promise((resolve) => {
    cohort.gather(() => {
      throw new Error('first')
    })
    cohort.gather(() => resolve('second'))
  })
  expect(went).toBe('second')
  expect(told).toEqual([['a cohort', 'first']])
})

test('a countdown that fails keeps no other from ringing', async () => {
  const rang = await new Promise((resolve) => {
    const countdowns = new Countdowns()
    countdowns
      .make(() => {
        throw new Error('first')
      })
      .set(1)
    countdowns.make(() => resolve('second')).set(2)
    setTimeout(() => {}, 1_000)
  })
  expect(rang).toBe('second')
  await expect.poll(() => told).toEqual([['a countdown', 'first']])
})
