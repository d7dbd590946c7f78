import { expect, test } from 'vitest'
import { chanceOf } from '../../../test/chance.ts'
import type { Plan } from '../runs/plan.ts'
import { cellsOf } from '../runs/plan.ts'
import type { AnswerRow } from '../runs/rows.ts'
import { decide, type Scored, withoutGaps } from './decide.ts'
import { isRatioOdd } from './ratio.ts'
import { meanBounds, numbersNeeded } from './sequence.ts'

const planOf = (arms: number, cases: number, more: Partial<Plan> = {}): Plan => ({
  arms: Array.from({ length: arms }, (_, n) => ({ id: `v${n + 1}`, model: 'm', weight: 1 })),
  cases: Array.from({ length: cases }, (_, n) => ({ name: `${n}`, prompt: 'x', weight: 1 })),
  assertions: [],
  repetitions: 1,
  design: 'all',
  seed: 0,
  stop: { min_samples: 10, confidence: 0.95, min_effect: 0.1, early: true },
  ...more,
})

/** Answers to all calls of a plan, right with the chance of their arm. */
function answersTo(plan: Plan, rates: readonly number[], chance: () => number): Scored[] {
  return cellsOf(plan).map(({ n, arm, case: at }) => ({
    n,
    arm,
    case: at,
    score: chance() < rates[arm]! ? 1 : 0,
  }))
}

test('of experiments whose variants are the same, at most one in twenty finds a winner at any look', () => {
  const chance = chanceOf(1).uniform
  const plan = planOf(2, 300)
  let found = 0
  for (let experiment = 0; experiment < 300; experiment += 1) {
    const answers = answersTo(plan, [0.5, 0.5], chance)
    const looks = Array.from({ length: 30 }, (_, n) => answers.slice(0, (n + 1) * 20))
    if (looks.some((seen) => decide(plan, seen).winner !== undefined)) found += 1
  }
  expect(found / 300).toBeLessThanOrEqual(0.05)
})

test('of ten variants that are the same, at most one in twenty wins', () => {
  const chance = chanceOf(2).uniform
  const plan = planOf(10, 100)
  let found = 0
  for (let experiment = 0; experiment < 100; experiment += 1)
    if (decide(plan, answersTo(plan, Array(10).fill(0.3), chance)).winner !== undefined) found += 1
  expect(found).toBeLessThanOrEqual(5)
})

test.each([
  [0.6, 0.5],
  [0.9, 0.8],
  [0.35, 0.25],
])(
  'ten points more, %d against %d, are found in four of five cases with as many samples as are said to be needed',
  (better, worse) => {
    const chance = chanceOf(3).uniform
    const variance = (better * (1 - better) + worse * (1 - worse)) / 4
    const plan = planOf(2, numbersNeeded(0.05, variance, 0.05))
    const runs = 200
    let right = 0
    let wrong = 0
    for (let run = 0; run < runs; run += 1) {
      const { winner } = decide(plan, answersTo(plan, [better, worse], chance))
      if (winner === 0) right += 1
      if (winner === 1) wrong += 1
    }
    expect(right / runs).toBeGreaterThan(0.72)
    expect(wrong).toBeLessThanOrEqual(5)
  },
)

test('bounds hold for numbers of any kind, few and many, at all lengths at once', () => {
  const chance = chanceOf(4).uniform
  for (const [mean, draw] of [
    [0.5, chance],
    [0.02, () => (chance() < 0.02 ? 1 : 0)],
    [0.9, () => 0.8 + 0.2 * chance()],
  ] as const) {
    let missed = 0
    for (let run = 0; run < 100; run += 1) {
      const values = Array.from({ length: 200 }, draw)
      const { low, high } = meanBounds(values, 0.05)
      if (low > mean || high < mean) missed += 1
    }
    expect(missed).toBeLessThanOrEqual(8)
  }
  expect(meanBounds([], 0.05)).toEqual({ low: 0, high: 1 })
})

test('few samples decide nothing, however clear they look', () => {
  const plan = planOf(2, 9)
  const clear = cellsOf(plan).map(({ n, arm, case: at }) => ({ n, arm, case: at, score: arm === 0 ? 1 : 0 }))
  expect(decide(plan, clear)).toMatchObject({ verdict: 'not_enough_samples', winner: undefined, samples: 9 })
})

test('variants that are the same to what matters are said to be', () => {
  const plan = planOf(2, 400, { stop: { min_samples: 10, confidence: 0.95, min_effect: 0.2, early: true } })
  const same = cellsOf(plan).map(({ n, arm, case: at }) => ({ n, arm, case: at, score: at % 2 }))
  expect(decide(plan, same).verdict).toBe('no_difference')
})

test('calls that failed have no part in a comparison, nor has what the other variant was not asked', () => {
  const plan = planOf(2, 30)
  const answers = cellsOf(plan).map(({ n, arm, case: at }) => ({
    n,
    arm,
    case: at,
    score: arm === 1 && at < 15 ? undefined : 0.5,
  }))
  expect(decide(plan, answers).samples).toBe(15)
  expect(withoutGaps(answers.filter(({ n }) => n !== 6))).toHaveLength(6)
})

test('a split goes by its seed and its weights, and a variant that loses answers is noticed', () => {
  const weighted = (seed: number): Plan => {
    const plan = planOf(2, 2000, { design: 'split', seed })
    return { ...plan, arms: [{ ...plan.arms[0]!, weight: 3 }, plan.arms[1]!] }
  }
  const armsOf = (plan: Plan) => cellsOf(plan).map(({ arm }) => arm)
  expect(armsOf(weighted(1))).toEqual(armsOf(weighted(1)))
  expect(armsOf(weighted(1))).not.toEqual(armsOf(weighted(2)))
  const share = armsOf(weighted(1)).filter((arm) => arm === 0).length / 2000
  expect(share).toBeCloseTo(0.75, 1)
  const rows = (plan: Plan, lost: number) =>
    cellsOf(plan).map(({ n, arm, case: at }) => ({
      n,
      arm,
      case: at,
      ...(arm === 1 && n % 10 < lost ? {} : { score: 1 }),
    })) as unknown as AnswerRow[]
  expect(isRatioOdd(weighted(1), rows(weighted(1), 0))).toBe(false)
  expect(isRatioOdd(weighted(1), rows(weighted(1), 4))).toBe(true)
})
