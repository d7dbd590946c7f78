import { describe, expect, test } from 'vitest'
import { type Chance, chanceOf } from '../../test/chance.ts'
import { type Answer, metrics } from './answer.ts'
import { Baseline, type Limits } from './baseline.ts'
import { chanceIndex, quantiles } from './stability.ts'

const limits: Limits = { baselineCalls: 500, windowCalls: 200, psi: 0.25, metrics }

interface Model {
  /** The median of the length and of the latency, by which both are log-normal. */
  readonly length?: number
  readonly latencyMs?: number
  readonly refused?: number
  readonly invalid?: number
  readonly german?: number
}

function answerOf(
  chance: Chance,
  { length = 400, latencyMs = 900, refused = 0.02, invalid = 0.05, german = 0.3 }: Model,
): Answer {
  const is = (share: number): boolean => chance.uniform() < share
  return {
    answer_length: Math.round(length * Math.exp(0.8 * chance.normal())),
    latency_ms: latencyMs * Math.exp(0.5 * chance.normal()),
    refusal_rate: is(refused) ? 'refused' : 'answered',
    json_validity: is(0.5) ? (is(invalid) ? 'invalid' : 'valid') : undefined,
    language: is(german) ? 'de' : is(0.02) ? 'unknown' : 'en',
  }
}

const begin = (): Baseline => Baseline.begin({ provider: 'openai', model: 'gpt-4o' })

/** Answers of a model, and which drifts they were, with the number of the call. */
function feed(baseline: Baseline, chance: Chance, model: Model, calls: number) {
  return Array.from({ length: calls }, () => baseline.learn(answerOf(chance, model), limits)).flatMap(
    (drifted, call) =>
      drifted.length > 0 ? [{ call, metrics: drifted.map(({ metric }) => metric), drifted }] : [],
  )
}

test('a model that stays the same raises nothing in twenty runs of 5,000 calls', () => {
  const raised = Array.from({ length: 20 }, (_, seed) => feed(begin(), chanceOf(seed + 1), {}, 5000))
  expect(raised.flat()).toEqual([])
})

describe.each([
  ['answer_length', { length: 800 }],
  ['latency_ms', { latencyMs: 1800 }],
  ['refusal_rate', { refused: 0.3 }],
  ['json_validity', { invalid: 0.5 }],
  ['language', { german: 0.8 }],
] as const)('a change of %s', (metric, changed) => {
  test.each([1, 2, 3])('is one drift that names it, at the end of the second window (seed %i)', (seed) => {
    const [baseline, chance] = [begin(), chanceOf(100 + seed)]
    expect(feed(baseline, chance, {}, 500 + 3 * 200)).toEqual([])
    const raised = feed(baseline, chance, changed, 4000)
    expect(raised.map(({ call, metrics }) => [call, metrics])).toEqual([[399, [metric]]])
    const [{ expected, actual, score, method }] = raised[0]!.drifted as [(typeof raised)[0]['drifted'][0]]
    expect(score).toBeGreaterThan(limits.psi)
    expect(method).toBe('PSI')
    if (metric === 'answer_length') {
      expect(expected).toBeGreaterThan(300)
      expect(actual / expected).toBeGreaterThan(1.5)
    }
  })
})

test('one window that differs is no drift', () => {
  const [baseline, chance] = [begin(), chanceOf(5)]
  feed(baseline, chance, {}, 500)
  expect(feed(baseline, chance, { length: 900 }, 200)).toEqual([])
  expect(feed(baseline, chance, {}, 2000)).toEqual([])
})

test('a pinned baseline stays after a drift, and tells of it again after the answers were as before', () => {
  const [baseline, chance] = [begin(), chanceOf(6)]
  baseline.pin(true)
  feed(baseline, chance, {}, 500)
  expect(feed(baseline, chance, { length: 900 }, 2000)).toHaveLength(1)
  expect(baseline.row.hasDrifted).toBe(true)
  expect(feed(baseline, chance, {}, 1000)).toEqual([])
  expect(baseline.row.hasDrifted).toBe(false)
  expect(feed(baseline, chance, { length: 900 }, 1000)).toHaveLength(1)
})

test('a pinned baseline that has drifted is learned anew once it is let go', () => {
  const [baseline, chance] = [begin(), chanceOf(6)]
  baseline.pin(true)
  feed(baseline, chance, {}, 500)
  expect(feed(baseline, chance, { length: 900 }, 1000)).toHaveLength(1)
  baseline.pin(false)
  expect([baseline.row.profiles, baseline.row.hasDrifted]).toEqual([undefined, false])
  feed(baseline, chance, { length: 900 }, 500)
  expect(feed(baseline, chance, { length: 400 }, 1000)).toHaveLength(1)
})

test('a metric that is watched later, or was rare at first, is learned from a window', () => {
  const [baseline, chance] = [begin(), chanceOf(9)]
  const only: Limits = { ...limits, metrics: ['latency_ms'] }
  for (let call = 0; call < 700; call += 1) baseline.learn(answerOf(chance, {}), only)
  expect(feed(baseline, chance, {}, 3 * 200)).toEqual([])
  const raised = feed(baseline, chance, { length: 1200 }, 2 * 200)
  expect(raised.map(({ metrics }) => metrics)).toEqual([['answer_length']])
})

test('numbers that were all the same drift in both directions', () => {
  for (const [before, after] of [
    [100, 101],
    [100, 99],
    [0, 5],
  ] as const) {
    const baseline = begin()
    const learn = (length: number, calls: number) =>
      Array.from({ length: calls }, () =>
        baseline.learn({ ...answerOf(chanceOf(1), {}), answer_length: length }, limits),
      ).filter((drifted) => drifted.length > 0)
    expect(learn(before, 1500)).toEqual([])
    expect(learn(after, 600)).toHaveLength(1)
  }
})

test('what is kept goes on where it was', () => {
  const [baseline, chance] = [begin(), chanceOf(8)]
  feed(baseline, chance, {}, 500)
  feed(baseline, chance, { length: 900 }, 250)
  const kept = new Baseline(JSON.parse(JSON.stringify(baseline.pack())))
  expect(feed(kept, chance, { length: 900 }, 200).map(({ call }) => call)).toEqual([149])
})

test('the quantiles are those of chi-squared, which is exceeded once in 100,000 times', () => {
  // The upper tail for even degrees of freedom has a closed form.
  const tail = (x: number, freedom: number): number => {
    let [term, sum] = [1, 1]
    for (let i = 1; i < freedom / 2; i += 1) {
      term *= x / 2 / i
      sum += term
    }
    return Math.exp(-x / 2) * sum
  }
  for (const freedom of [2, 4, 6]) expect(tail(quantiles[freedom - 1]!, freedom) * 1e5).toBeCloseTo(1, 2)
  expect([...quantiles].sort((a, b) => a - b)).toEqual(quantiles)
  expect(chanceIndex(5, 500, 200)).toBeCloseTo(0.199, 3)
})
