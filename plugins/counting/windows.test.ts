import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyWindows, windowsIn } from './windows.ts'

const windowMs = 6_000
const world = (options: { mostGroups?: number; quantiles?: boolean } = {}) => {
  const clock = { at: 1_000_000 }
  const state = emptyWindows()
  const open = (ms = windowMs) => windowsIn(state, 'w', { windowMs: ms, ...options }, () => clock.at)
  return { clock, state, open }
}

const aStep = fc.record({
  group: fc.constantFrom('a', 'b'),
  value: fc.oneof(fc.nat({ max: 1_000_000 }), fc.double({ min: 0, max: 1e-3, noNaN: true })),
  ms: fc.oneof(fc.nat({ max: 400 }), fc.nat({ max: 9_000 })),
})

test('sums and quantiles are those of the last window, as a list of all values has them', () => {
  fc.assert(
    fc.property(
      fc.array(aStep, { maxLength: 80 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (steps, share) => {
        const { clock, open } = world({ quantiles: true })
        const windows = open()
        const added: { group: string; value: number; at: number }[] = []
        for (const { group, value, ms } of steps) {
          windows.add(group, value)
          added.push({ group, value, at: clock.at })
          clock.at += ms
          const first = Math.floor(clock.at / 100) - 59
          for (const group of ['a', 'b']) {
            const values = added
              .filter((one) => one.group === group && Math.floor(one.at / 100) >= first)
              .map(({ value }) => value)
              .toSorted((a, b) => a - b)
            const { count, sum } = windows.read(group)
            expect(count).toBe(values.length)
            expect(sum).toBeCloseTo(
              values.reduce((all, one) => all + one, 0),
              6,
            )
            const wanted = values[Math.max(1, Math.ceil(share * values.length)) - 1]
            const found = windows.quantile(group, share)
            if (wanted === undefined) expect(found).toBeUndefined()
            else expect(Math.abs(found! - wanted)).toBeLessThanOrEqual(Math.max(wanted * 0.03, 1e-9))
            expect(windows.groups().includes(group)).toBe(values.length > 0)
          }
        }
      },
    ),
  )
})

test('of more groups than are kept the one that was not added to for longest is forgotten', () => {
  const { clock, open } = world({ mostGroups: 3 })
  const windows = open()
  for (const group of ['a', 'b', 'c', 'a', 'd']) {
    windows.add(group, 1)
    clock.at += 200
  }
  expect(windows.groups()).toEqual(['c', 'a', 'd'])
  expect([windows.read('a').count, windows.read('b').count]).toEqual([2, 0])
})

test('adding to a group keeps it from being the next that is forgotten, also before all places are taken', () => {
  const { clock, open } = world({ mostGroups: 3 })
  const windows = open()
  for (const group of ['a', 'b', 'a', 'c', 'd']) {
    windows.add(group, 1)
    clock.at += 200
  }
  expect(windows.groups()).toEqual(['a', 'c', 'd'])
})

test('another instance goes on with what was added, and another length begins anew', () => {
  const { open, state } = world()
  open().add('a', 5)
  expect(open().read('a')).toEqual({ count: 1, sum: 5 })
  expect(structuredClone(state)).toEqual(state)
  expect(open(12_000).read('a')).toEqual({ count: 0, sum: 0 })
})
