import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileHours, type Hours, hoursSchema } from './hours.ts'

const at = (text: string): number => Date.parse(text)
/** 2026-11-23 is a Monday. */
const isActive = (hours: Hours[], text: string): boolean => compileHours(hours)(at(text))

test('hours begin with their first minute and end before their last', () => {
  const hours = [{ from: '09:00', to: '17:30' }]
  expect(isActive(hours, '2026-11-23T08:59:59Z')).toBe(false)
  expect(isActive(hours, '2026-11-23T09:00:00Z')).toBe(true)
  expect(isActive(hours, '2026-11-23T17:29:59Z')).toBe(true)
  expect(isActive(hours, '2026-11-23T17:30:00Z')).toBe(false)
})

test('hours that pass midnight belong to the day on which they start', () => {
  const hours: Hours[] = [{ days: ['sat'], from: '22:00', to: '06:00' }]
  expect(isActive(hours, '2026-11-21T21:59:00Z')).toBe(false)
  expect(isActive(hours, '2026-11-21T23:00:00Z')).toBe(true)
  expect(isActive(hours, '2026-11-22T05:59:00Z')).toBe(true)
  expect(isActive(hours, '2026-11-22T06:00:00Z')).toBe(false)
  expect(isActive(hours, '2026-11-22T23:00:00Z')).toBe(false)
})

test('a whole day is written from midnight to midnight, and several stretches add up', () => {
  expect(isActive([{ days: ['mon'], from: '00:00', to: '24:00' }], '2026-11-23T23:59:59Z')).toBe(true)
  expect(isActive([{ days: ['mon'], from: '00:00', to: '24:00' }], '2026-11-24T00:00:00Z')).toBe(false)
  const both = [
    { from: '08:00', to: '09:00' },
    { from: '12:00', to: '13:00' },
  ]
  expect(isActive(both, '2026-11-23T12:30:00Z')).toBe(true)
  expect(isActive(both, '2026-11-23T10:30:00Z')).toBe(false)
})

test('hours are those of the clocks in a time zone, also over a change of the clocks', () => {
  const isOpen = compileHours([{ days: ['sun'], from: '02:30', to: '04:00' }], 'Europe/Berlin')
  expect(isOpen(at('2026-03-29T00:59:00Z'))).toBe(false)
  expect(isOpen(at('2026-03-29T01:00:00Z'))).toBe(true)
  expect(isOpen(at('2026-03-29T02:00:00Z'))).toBe(false)
  expect(compileHours([{ from: '00:00', to: '00:30' }], 'Asia/Kolkata')(at('2026-11-22T18:45:00Z'))).toBe(
    true,
  )
  expect(compileHours([{ from: '12:00', to: '13:00' }], 'UTC')(at('2026-11-22T12:15:00Z'))).toBe(true)
})

test('every minute is either in some hours or in those that begin where they end', () => {
  const minute = fc.nat({ max: 24 * 60 - 1 })
  const text = (of: number) =>
    `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`
  fc.assert(
    fc.property(minute, minute, fc.nat({ max: 4e9 }), (from, to, second) => {
      fc.pre(from !== to)
      const inside = compileHours([{ from: text(from), to: text(to) }])(second * 1000)
      const outside = compileHours([{ from: text(to), to: text(from) }])(second * 1000)
      expect(inside).toBe(!outside)
    }),
  )
})

test('hours that are none are refused', () => {
  for (const hours of [
    { from: '9:00', to: '17:00' },
    { from: '09:00', to: '25:00' },
    { from: '09:00', to: '09:00' },
    { days: [], from: '09:00', to: '10:00' },
  ]) {
    expect(hoursSchema.safeParse(hours).success).toBe(false)
  }
})
