import { expect, test } from 'vitest'
import { addTo, parseTotals } from './totals.ts'

test('whole numbers are added to the sums, and to nothing where there is none', () => {
  const totals = { calls: 2 }
  addTo(totals, { calls: 3, cost: -1 })
  addTo(totals, { calls: 0.5, more: Number.NaN, cost: 2 ** 53, other: Number.POSITIVE_INFINITY })
  expect(totals).toEqual({ calls: 5, cost: -1 })
})

test('sums end where whole numbers are no longer exact', () => {
  const most = Number.MAX_SAFE_INTEGER
  const totals = { up: most, down: -most }
  addTo(totals, { up: 7, down: -7 })
  expect(totals).toEqual({ up: most, down: -most })
})

test.for<readonly [string, object, boolean]>([
  ['{"calls":1,"cost":-2}', { calls: 1, cost: -2 }, true],
  ['{}', {}, true],
  ['{"calls":1,"cost":0.5,"more":"1","most":9007199254740993}', { calls: 1 }, false],
  ['{"calls":null}', {}, false],
  ['[1]', {}, false],
  ['[]', {}, false],
  ['null', {}, false],
  ['1', {}, false],
  ['"calls"', {}, false],
  ['{"calls":', {}, false],
  ['', {}, false],
])('of %s the sums are kept, and it is said whether that is all', ([text, totals, isSound]) => {
  expect(parseTotals(text)).toEqual({ totals, isSound })
})
