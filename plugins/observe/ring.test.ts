import fc from 'fast-check'
import { expect, test } from 'vitest'
import { follow } from './live.ts'
import { forget, happeningAt, idOf, newRing, oldest, publish, type Ring, resumeAt } from './ring.ts'

function filled(size: number, count: number): Ring {
  const ring = newRing(size)
  ring.leftAt = Date.now()
  fill(ring, count)
  return ring
}

function fill(ring: Ring, count: number): void {
  for (let n = 1; n <= count; n++) publish(ring, () => ({ event: `e${n}`, userId: null, data: () => n }))
}

test('a ring has the last happenings, by their numbers, and no others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(60), (size, count) => {
      const ring = filled(size, count)
      for (let n = -1; n <= count + 2; n++) {
        const wanted = n > 0 && n <= count && n > count - size ? n : undefined
        expect(happeningAt(ring, n)?.data()).toBe(wanted)
      }
      expect(oldest(ring)).toBe(Math.max(1, count - size + 1))
    }),
  )
})

test('what a user alone saw is forgotten, and the rest keeps its numbers', () => {
  const ring = filled(4, 0)
  for (const userId of ['ada', 'bob', 'ada', null, 'ada', 'bob'])
    publish(ring, () => ({ event: 'e', userId, data: () => userId }))
  forget(ring, 'ada')
  expect([3, 4, 5, 6].map((n) => happeningAt(ring, n)?.data())).toEqual([undefined, null, undefined, 'bob'])
  fill(ring, 1)
  expect([oldest(ring), happeningAt(ring, 7)?.data()]).toEqual([4, 1])
})

test('what repeats the words of a user is forgotten with that user', () => {
  const ring = filled(4, 0)
  for (const sourceUserId of ['ada', undefined, 'bob', 'ada'])
    publish(ring, () => ({ event: 'e', userId: undefined, sourceUserId, data: () => sourceUserId ?? 'own' }))
  forget(ring, 'ada')
  expect([1, 2, 3, 4].map((n) => happeningAt(ring, n)?.data())).toEqual([undefined, 'own', 'bob', undefined])
})

test('who comes back goes on after its last event, or with the oldest that is left', () => {
  const ring = filled(10, 25)
  expect(resumeAt(ring, undefined)).toBe(26)
  expect(resumeAt(ring, idOf(ring, 20))).toBe(21)
  expect(resumeAt(ring, idOf(ring, 25))).toBe(26)
  expect(resumeAt(ring, idOf(ring, 3))).toBe(16)
  expect(resumeAt(ring, idOf(ring, 99))).toBe(16)
  expect(resumeAt(ring, 'another-20')).toBe(16)
  expect(resumeAt(ring, 'nonsense')).toBe(16)
})

test('a viewer slower than the ring misses what fell out of it, and goes on in order', async () => {
  const ring = filled(5, 0)
  const left = new AbortController()
  const viewer = { sees: () => true, lastId: undefined, signals: [left.signal], heartbeatMs: 60_000 }
  const view = follow(ring, viewer)
  expect((await view.next()).value).toMatchObject({ event: 'heartbeat' })
  fill(ring, 12)
  const seen: unknown[] = []
  for (let n = 0; n < 5; n++) {
    const { value } = await view.next()
    if (value) seen.push(value.data)
  }
  expect(seen).toEqual([8, 9, 10, 11, 12])
  const end = view.next()
  left.abort()
  expect((await end).done).toBe(true)
  expect(ring.viewers).toBe(0)
  expect(ring.waiting.size).toBe(0)
})

test('a silent view has heartbeats without ids', async () => {
  const left = new AbortController()
  const view = follow(newRing(5), {
    sees: () => true,
    lastId: undefined,
    signals: [left.signal],
    heartbeatMs: 20,
  })
  for (let n = 0; n < 3; n++) {
    const { value } = await view.next()
    expect(value).toMatchObject({ event: 'heartbeat', data: { timestamp: expect.any(String) } })
    expect(value?.id).toBeUndefined()
  }
  await view.return(undefined)
})

test('nothing is kept while nobody looks, and long after the last viewer left', () => {
  const ring = newRing(5)
  fill(ring, 3)
  expect(ring.last).toBe(3)
  expect(happeningAt(ring, 3)).toBeUndefined()
  ring.viewers = 1
  fill(ring, 3)
  expect(happeningAt(ring, 6)?.data()).toBe(3)
  ring.viewers = 0
  fill(ring, 1)
  expect(ring.slots).toEqual([])
  expect(resumeAt(ring, idOf(ring, 6))).toBe(7)
})
