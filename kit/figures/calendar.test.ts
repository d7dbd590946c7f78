import { expect, test } from 'vitest'
import { periodAt } from './calendar.ts'

const hours = (kind: 'day' | 'month', at: string, timezone: string): [from: string, hours: number] => {
  const { start, end } = periodAt(Date.parse(at), { kind, timezone })
  return [new Date(start).toISOString(), (end - start) / 3_600_000]
}

test.each([
  ['a usual day', '2026-06-15T12:00:00Z', 'Europe/Berlin', '2026-06-14T22:00:00.000Z', 24],
  [
    'the day on which clocks go forward',
    '2026-03-29T12:00:00Z',
    'Europe/Berlin',
    '2026-03-28T23:00:00.000Z',
    23,
  ],
  ['the day on which they go back', '2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', 25],
  ['the hour that is there twice', '2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', 25],
  ['the last moment of a day', '2026-03-29T21:59:59.999Z', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', 23],
  ['the first of the next', '2026-03-29T22:00:00Z', 'Europe/Berlin', '2026-03-29T22:00:00.000Z', 24],
  ['half an hour off', '2026-11-22T18:30:00Z', 'Asia/Kolkata', '2026-11-22T18:30:00.000Z', 24],
  ['a day that begins at one', '2018-11-04T12:00:00Z', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z', 23],
  [
    'a day before one that was left out',
    '2011-12-29T12:00:00Z',
    'Pacific/Apia',
    '2011-12-29T10:00:00.000Z',
    24,
  ],
])('%s', (_, at, timezone, from, length) => {
  expect(hours('day', at, timezone)).toEqual([from, length])
})

test.each([
  ['March, an hour short', '2026-03-31T12:00:00Z', 'Europe/Berlin', '2026-02-28T23:00:00.000Z', 31 * 24 - 1],
  ['February of a leap year', '2028-02-29T12:00:00Z', 'UTC', '2028-02-01T00:00:00.000Z', 29 * 24],
  ['the turn of the year', '2026-12-31T23:30:00Z', 'Europe/Berlin', '2026-12-31T23:00:00.000Z', 31 * 24],
])('%s', (_, at, timezone, from, length) => {
  expect(hours('month', at, timezone)).toEqual([from, length])
})
