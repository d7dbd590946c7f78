import { expect, test } from 'vitest'
import { isDue } from './recalibration.ts'

const at = Date.parse('2026-11-24T00:00:00.000Z')
const last = { created_at: new Date(at).toISOString() }
const hourMs = 3_600_000

test('a calibration is due when its time has passed, and never without one', () => {
  expect(isDue(last, '12h', at + 12 * hourMs - 1)).toBe(false)
  expect(isDue(last, '12h', at + 12 * hourMs)).toBe(true)
  expect(isDue(last, '7d', at + 7 * 24 * hourMs - 1)).toBe(false)
  expect(isDue(last, '7d', at + 7 * 24 * hourMs)).toBe(true)
  expect(isDue(last, null, at + 9999 * hourMs)).toBe(false)
})
