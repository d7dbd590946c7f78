import { expect, test } from 'vitest'
import { chanceOf } from '../../test/chance.ts'
import { Mean, shareOf, wideness95 } from './interval.ts'

test('less confidence and more tries make an interval of a share narrower', () => {
  const lows = [10, 20, 40, 200].map((tries) => shareOf(tries, tries).low!)
  expect(lows).toEqual(lows.toSorted((a, b) => a - b))
  const byConfidence = [0.99, 0.98, 0.95, 0.9, 0.8].map((confidence) => shareOf(9, 10, confidence).low!)
  expect(byConfidence).toEqual(byConfidence.toSorted((a, b) => a - b))
})

test('intervals are those of the textbook', () => {
  expect(shareOf(10, 100)).toMatchObject({
    value: 0.1,
    low: expect.closeTo(0.0552, 4),
    high: expect.closeTo(0.1744, 4),
  })
  expect(shareOf(0, 10)).toMatchObject({ value: 0, low: 0, high: expect.closeTo(0.2775, 4) })
  expect(shareOf(0, 0)).toEqual({ value: null, low: null, high: null })
  // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  for (const [hits, tries, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const)
    expect(shareOf(hits, tries)).toMatchObject({ low: expect.closeTo(low, 4), high: expect.closeTo(high, 4) })
  const mean = new Mean()
  for (const value of [2, 4, 4, 4, 5, 5, 7, 9]) mean.add(value)
  expect(mean.estimate).toMatchObject({
    value: 5,
    low: expect.closeTo(5 - (2.364624 * 2.13809) / Math.sqrt(8), 2),
    high: expect.closeTo(5 + (2.364624 * 2.13809) / Math.sqrt(8), 2),
  })
})

test('the wideness of Student is that of the tables', () => {
  for (const [freedom, value] of [
    [1, 12.7062],
    [2, 4.3027],
    [3, 3.1824],
    [4, 2.7764],
    [10, 2.2281],
    [30, 2.0423],
    [1000, 1.9623],
  ] as const)
    expect([freedom, wideness95(freedom)]).toEqual([freedom, expect.closeTo(value, 2)])
})

test('intervals of 95 % hold the truth in 93 to 97 of 100 cases', () => {
  const { uniform, normal } = chanceOf(1)
  for (const draws of [5, 30]) {
    let held = 0
    for (let run = 0; run < 4000; run += 1) {
      const mean = new Mean()
      for (let draw = 0; draw < draws; draw += 1) mean.add(3 + 2 * normal())
      const { low, high } = mean.estimate
      if (low! <= 3 && high! >= 3) held += 1
    }
    expect([draws, Math.abs(held / 4000 - 0.95) < 0.02]).toEqual([draws, true])
  }
  for (const [share, tries] of [
    [0.5, 100],
    [0.1, 200],
    [0.8, 60],
  ] as const) {
    let held = 0
    for (let run = 0; run < 4000; run += 1) {
      let hits = 0
      for (let one = 0; one < tries; one += 1) if (uniform() < share) hits += 1
      const { low, high } = shareOf(hits, tries)
      if (low! <= share && high! >= share) held += 1
    }
    expect([share, Math.abs(held / 4000 - 0.95) < 0.02]).toEqual([share, true])
  }
})
