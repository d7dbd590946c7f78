import fc from 'fast-check'
import { expect, test } from 'vitest'
import { add, emptyMinute, sumOf, waitMs } from './minute.ts'

const steps = fc.array(
  fc.record({ pause: fc.oneof(fc.constant(0), fc.nat({ max: 20_000 })), amount: fc.nat({ max: 100 }) }),
  {
    minLength: 1,
    maxLength: 100,
  },
)

test('the sum is that of the whole seconds of the last minute', () => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 1e9 }), (all, start) => {
      const minute = emptyMinute()
      const added: { second: number; amount: number }[] = []
      let now = start
      for (const { pause, amount } of all) {
        now += pause
        add(minute, now, amount)
        added.push({ second: Math.floor(now / 1000), amount })
        const recent = added.filter(({ second }) => second >= Math.floor(now / 1000) - 60)
        expect(sumOf(minute, now)).toBe(recent.reduce((sum, { amount }) => sum + amount, 0))
      }
    }),
  )
})

test('who adds only while there is room never has more than the limit in any minute', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const minute = emptyMinute()
      const added: { at: number; amount: number }[] = []
      let now = 0
      for (const { pause, amount } of all) {
        now += pause
        if (sumOf(minute, now) + amount > 200) continue
        add(minute, now, amount)
        added.push({ at: now, amount })
      }
      for (const { at: from } of added) {
        const within = added.filter(({ at }) => at >= from && at <= from + 60_000)
        expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(200)
      }
    }),
  )
})

test('the wait is over exactly when there is room', () => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 300 }), (all, most) => {
      const minute = emptyMinute()
      let now = 0
      for (const { pause, amount } of all) {
        now += pause
        add(minute, now, amount)
      }
      const wait = waitMs(minute, now, most)
      expect(sumOf(structuredClone(minute), now + wait)).toBeLessThanOrEqual(most)
      if (wait > 0) expect(sumOf(structuredClone(minute), now + wait - 1)).toBeGreaterThan(most)
    }),
  )
})

test('what is given back leaves the second in which it was taken, and later than a minute nothing is left of it', () => {
  const minute = emptyMinute()
  add(minute, 1000, 100)
  add(minute, 30_000, -60, 1000)
  expect(sumOf(minute, 30_000)).toBe(40)
  expect(sumOf(minute, 62_000)).toBe(0)
  add(minute, 62_000, -60, 1000)
  expect(sumOf(minute, 62_000)).toBe(0)
})
