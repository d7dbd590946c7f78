import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from '../../gateway/log.ts'
import { FirstRelay, ThreadRelay } from '../../gateway/threads/relay.ts'
import { oneThread, type Relay } from '../plugin/relay.ts'
import { Refusals } from '../refusals.ts'
import { FailedKeys } from './failed-keys.ts'

let logged: string[]

beforeEach(() => {
  logged = []
  vi.useFakeTimers({ toFake: ['Date'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const failedKeys = (limit: number, relay: Relay = oneThread, refusals = new Refusals()) =>
  new FailedKeys({
    limit,
    relay,
    refusals,
    log: createLog({ level: 'warn', stream: { write: (line: string) => void logged.push(line) } }),
  })

/** How long the address had to wait after each of so many failures. */
async function waits(failed: FailedKeys, address: string, times: number): Promise<number[]> {
  const waits: number[] = []
  for (let n = 0; n < times; n += 1) waits.push(await failed.add(address))
  return waits
}

test('an address waits from its twentieth failure to the end of the minute that began with the first', async () => {
  const failed = failedKeys(20)
  expect(await waits(failed, '192.0.2.1', 19)).toEqual(Array(19).fill(0))
  expect(failed.waitS('192.0.2.1')).toBe(0)
  vi.setSystemTime(Date.now() + 45_000)
  expect(await waits(failed, '192.0.2.1', 2)).toEqual([0, 15])
  expect([failed.waitS('192.0.2.1'), failed.waitS('192.0.2.2')]).toEqual([15, 0])
  vi.setSystemTime(Date.now() + 14_999)
  expect(failed.waitS('192.0.2.1')).toBe(1)
  vi.setSystemTime(Date.now() + 1)
  expect(failed.waitS('192.0.2.1')).toBe(0)
  expect(await waits(failed, '192.0.2.1', 21)).toEqual([...Array(20).fill(0), 60])
})

test('a line of the log names an address once a minute', async () => {
  const failed = failedKeys(3)
  await waits(failed, '192.0.2.1', 50)
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ address: '192.0.2.1' }])
})

test('the addresses of one IPv6 connection count as one, and IPv4 in IPv6 as IPv4', async () => {
  const failed = failedKeys(2)
  await waits(failed, '2001:db8:1:2::1', 1)
  await waits(failed, '2001:db8:1:2:ffff::9', 1)
  expect(failed.waitS('2001:db8:1:2:3:4:5:6')).toBe(60)
  expect(failed.waitS('2001:db8:1:3::1')).toBe(0)
  await waits(failed, '::ffff:192.0.2.1', 2)
  expect(failed.waitS('192.0.2.1')).toBe(60)
})

test('without a limit nobody waits', async () => {
  const failed = failedKeys(0)
  expect(await waits(failed, '192.0.2.1', 100)).toEqual(Array(100).fill(0))
  expect(failed.waitS('192.0.2.1')).toBe(0)
})

test('all threads count together, and each waits from its first failure beyond', async () => {
  const relay = new FirstRelay()
  const refusals = new Refusals()
  const first = failedKeys(4, relay, refusals)
  const others = [2, 3].map((thread) => {
    const ask = async (key: string, data: unknown): Promise<unknown> => relay.answer(key, data, thread)
    return failedKeys(4, new ThreadRelay({ ask, tell: () => {} }))
  })
  const [second, third] = others as [FailedKeys, FailedKeys]
  await waits(first, '192.0.2.1', 2)
  expect(await waits(second, '192.0.2.1', 2)).toEqual([0, 0])
  expect([first, second, third].map((failed) => failed.waitS('192.0.2.1'))).toEqual([0, 60, 0])
  expect(await waits(third, '192.0.2.1', 1)).toEqual([60])
  expect(third.waitS('192.0.2.1')).toBe(60)
  expect(refusals.failedKeys).toBe(5)
  expect(logged).toHaveLength(1)
})

test('of very many addresses those that failed longest ago are forgotten', async () => {
  const failed = failedKeys(1)
  for (let n = 0; n < 10_001; n += 1) await failed.add(`10.0.${n >> 8}.${n & 255}`)
  expect([failed.waitS('10.0.0.0'), failed.waitS('10.0.0.1')]).toEqual([0, 60])
})
