import { expect, test } from 'vitest'
import { openingsOf } from './window.ts'

const at = (text: string): number => Date.parse(text)

test('a window opens at the minute of its hours, by the clocks of its zone', () => {
  const night = [{ from: '22:00', to: '06:00' }]
  const opening = openingsOf({ hours: night, timezone: 'Europe/Berlin' })
  expect(opening(at('2026-07-01T12:00:30Z'))).toBe(at('2026-07-01T20:00:00Z'))
  expect(opening(at('2026-07-01T13:00:00Z'))).toBe(at('2026-07-01T20:00:00Z'))
  expect(opening(at('2026-07-01T21:17:03Z'))).toBe(at('2026-07-01T21:17:03Z'))
  expect(opening(at('2026-07-02T04:00:00Z'))).toBe(at('2026-07-02T20:00:00Z'))
  expect(opening(at('2026-01-05T12:00:00Z'))).toBe(at('2026-01-05T21:00:00Z'))
})

test('a window of one day a week opens in the week after', () => {
  const opening = openingsOf({ hours: [{ days: ['sun'], from: '00:00', to: '24:00' }], timezone: 'UTC' })
  expect(opening(at('2026-11-23T00:00:00Z'))).toBe(at('2026-11-29T00:00:00Z'))
  expect(openingsOf('always')(17)).toBe(17)
})
