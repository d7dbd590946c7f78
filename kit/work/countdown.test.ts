import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type Countdown, Countdowns } from './countdown.ts'

const countdowns = new Countdowns()

function recorded(): { countdown: Countdown; missed: [string, number][] } {
  const missed: [string, number][] = []
  return { countdown: countdowns.make((what, ms) => missed.push([what, ms])), missed }
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

test('each of many rings in its own time, whatever the order they were set in', async () => {
  const started = performance.now()
  const rang: [number, number][] = []
  const all = Array.from({ length: 50 }, (_, n) => ((n * 37) % 50) * 4 + 5).map((ms) => {
    const countdown = countdowns.make(() => rang.push([ms, performance.now() - started]))
    countdown.set(ms)
    return { ms, countdown }
  })
  const cleared = all.filter(({ ms }) => ms % 3 === 0)
  for (const { countdown } of cleared) countdown.clear()
  await expect.poll(() => rang).toHaveLength(all.length - cleared.length)
  for (const [ms, at] of rang) expect(at).toBeGreaterThanOrEqual(ms - 1)
  expect(rang.map(([ms]) => ms)).toEqual(rang.map(([ms]) => ms).toSorted((a, b) => a - b))
})

test('one that ends another at the same moment is the only one to ring', async () => {
  const rang: string[] = []
  const first = countdowns.make(() => {
    rang.push('first')
    second.clear()
  })
  const second = countdowns.make(() => rang.push('second'))
  first.set(20)
  second.set(20)
  await sleep(80)
  expect(rang).toEqual(['first'])
})

test('takes times that are longer than Node’s timers', async () => {
  const warned: Error[] = []
  const note = (warning: Error): void => void warned.push(warning)
  process.on('warning', note)
  const { countdown, missed } = recorded()
  countdown.set(40 * 86_400_000)
  await sleep(20)
  countdown.clear()
  process.off('warning', note)
  expect([missed, warned]).toEqual([[], []])
})

test('rings again after the timer it waited for was lost', async () => {
  const [before, after] = [recorded(), recorded()]
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  before.countdown.set(20, 'lost')
  vi.useRealTimers()
  await expect.poll(() => performance.now()).toBeGreaterThan(1_100)
  after.countdown.set(20, 'found')
  await expect.poll(() => after.missed).toEqual([['found', 20]])
  expect(before.missed).toEqual([['lost', 20]])
})
