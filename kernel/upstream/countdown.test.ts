import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Countdown } from './countdown.ts'

function recorded(): { countdown: Countdown; missed: [string, number][] } {
  const missed: [string, number][] = []
  return { countdown: new Countdown((what, ms) => missed.push([what, ms])), missed }
}

test('tells once what did not happen in time', async () => {
  const { countdown, missed } = recorded()
  countdown.set(20, 'an answer')
  await expect.poll(() => missed).toEqual([['an answer', 20]])
  await sleep(60)
  expect(missed).toHaveLength(1)
})

test('a later countdown takes the place of an earlier one, and an earlier one of a later', async () => {
  const { countdown, missed } = recorded()
  countdown.set(10, 'first')
  countdown.set(10_000, 'second')
  await sleep(60)
  expect(missed).toEqual([])
  countdown.set(10, 'third')
  await expect.poll(() => missed).toEqual([['third', 10]])
})

test('does not ring while it is renewed, and rings when that ends', async () => {
  const { countdown, missed } = recorded()
  countdown.set(400, 'more')
  for (let n = 0; n < 12; n += 1) {
    await sleep(50)
    countdown.renew()
  }
  expect(missed).toEqual([])
  await expect.poll(() => missed).toEqual([['more', 400]])
})

test('stays silent when it is cleared', async () => {
  const { countdown, missed } = recorded()
  countdown.set(10, 'an answer')
  countdown.clear()
  countdown.renew()
  await sleep(60)
  expect(missed).toEqual([])
})
