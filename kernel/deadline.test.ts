import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Deadline } from './deadline.ts'

function recorded(): { deadline: Deadline; missed: [string, number][] } {
  const missed: [string, number][] = []
  return { deadline: new Deadline((what, ms) => missed.push([what, ms])), missed }
}

test('tells once what did not happen in time', async () => {
  const { deadline, missed } = recorded()
  deadline.set(20, 'an answer')
  await expect.poll(() => missed).toEqual([['an answer', 20]])
  await sleep(60)
  expect(missed).toHaveLength(1)
})

test('a later deadline takes the place of an earlier one, and an earlier one of a later', async () => {
  const { deadline, missed } = recorded()
  deadline.set(10, 'first')
  deadline.set(10_000, 'second')
  await sleep(60)
  expect(missed).toEqual([])
  deadline.set(10, 'third')
  await expect.poll(() => missed).toEqual([['third', 10]])
})

test('does not ring while it is renewed, and rings when that ends', async () => {
  const { deadline, missed } = recorded()
  deadline.set(400, 'more')
  for (let n = 0; n < 12; n += 1) {
    await sleep(50)
    deadline.renew()
  }
  expect(missed).toEqual([])
  await expect.poll(() => missed).toEqual([['more', 400]])
})

test('stays silent when it is cleared', async () => {
  const { deadline, missed } = recorded()
  deadline.set(10, 'an answer')
  deadline.clear()
  deadline.renew()
  await sleep(60)
  expect(missed).toEqual([])
})
