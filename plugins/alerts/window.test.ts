import fc from 'fast-check'
import { expect, test } from 'vitest'
import { metricOf } from './metrics.ts'
import { partOf, parts, Window } from './window.ts'

const windowMs = 60_000

const aValue = fc.record({ at: fc.integer({ min: 0, max: 200_000 }), value: fc.nat(100) })

test('a window holds the values of its sixty parts, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(aValue), fc.nat(100_000), (values, later) => {
      const window = new Window(metricOf('tokens_per_request'), windowMs, values[0]?.at ?? 0)
      for (const { at, value } of values) window.add(at, value)
      const now = 200_000 + later
      const inside = values.filter(({ at }) => partOf(at, windowMs) > partOf(now, windowMs) - parts)
      const sum = inside.reduce((all, { value }) => all + value, 0)
      const value = inside.length === 0 ? undefined : sum / inside.length
      expect(window.read(now)).toEqual({ samples: inside.length, value })
    }),
  )
})

test('a clock that was set back by more than the window empties it', () => {
  const window = new Window(metricOf('request_rate'), windowMs, 1_000_000)
  window.add(1_000_000, 1)
  expect(window.read(100_000)).toEqual({ samples: 0, value: 0 })
})
