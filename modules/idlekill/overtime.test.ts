import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Call } from '#kernel'
import { Overtime } from './overtime.ts'

const callOf = (id: string) => ({ id, trace: { started: performance.now() } }) as Call

test('each call that takes too long is ended in its own time, and no call that is over', async () => {
  const ended = new Map<string, number>()
  const overtime = new Overtime(100, (call) => ended.set(call.id, performance.now() - call.trace.started))
  for (const id of ['first', 'over', 'third', 'fourth']) {
    const call = callOf(id)
    overtime.begin(call)
    if (id === 'over') overtime.finish(call)
    await sleep(30)
  }
  expect([...ended.keys()].filter((id) => id !== 'first')).toEqual([])
  await expect.poll(() => [...ended.keys()]).toEqual(['first', 'third', 'fourth'])
  for (const ms of ended.values()) expect(ms).toBeGreaterThanOrEqual(100)
  overtime.begin(callOf('fifth'))
  await expect.poll(() => ended.has('fifth')).toBe(true)
})

test('nothing is ended after it was closed', async () => {
  let ended = 0
  const overtime = new Overtime(20, () => {
    ended += 1
  })
  overtime.begin(callOf('left'))
  overtime.close()
  await sleep(60)
  expect(ended).toBe(0)
})
