import type { Plan } from '../runs/plan.ts'
import { type Bounds, meanBounds, numbersNeeded } from './sequence.ts'

/** A call of a run, as far as a decision needs it. */
export interface Scored {
  readonly n: number
  readonly arm: number
  readonly case: number
  /** From 0 to 1; undefined where the call failed or could not be judged. */
  readonly score: number | undefined
}

/** How two arms compare: the scores of the first above those of the second. */
export interface Pair {
  readonly arms: readonly [number, number]
  readonly samples: number
  readonly difference: number | null
  /** With all other pairs together as sure as the rule asks; null where there are no samples. */
  readonly bounds: Bounds | null
}

export type Verdict = 'winner' | 'no_difference' | 'undecided' | 'not_enough_samples'

/** What a comparison comes to. */
export interface Decision {
  readonly verdict: Verdict
  readonly winner: number | undefined
  readonly pairs: readonly Pair[]
  /** The least number of samples of a pair. */
  readonly samples: number
  /** Samples that it probably takes to find a difference of `min_effect`. */
  readonly needed: number
}

/**
 * Whether one arm is better than every other. Its samples are inputs, with the mean of their repetitions as score: of one and the same
 * input where all arms get all, and otherwise of the first that each got, the second and so on. The bounds of each difference
 * hold at any time of looking (see `meanBounds`), and by Bonferroni's inequality for all pairs together.
 */
export function decide({ arms, design, stop, cases }: Plan, answers: readonly Scored[]): Decision {
  const scores = arms.map((_, arm) => meansByCase(answers, arm))
  const count = (arms.length * (arms.length - 1)) / 2
  const alpha = (1 - stop.confidence) / Math.max(1, count)
  const pairs: Pair[] = []
  let variance = 0
  for (let a = 0; a < arms.length; a += 1)
    for (let b = a + 1; b < arms.length; b += 1) {
      const both = [scores[a]!, scores[b]!] as const
      const values = design === 'all' ? sameCases(both, cases.length) : inOrder(both)
      variance = Math.max(variance, varianceOf(values))
      pairs.push(pairOf([a, b], values, alpha))
    }
  const samples = pairs.length === 0 ? 0 : Math.min(...pairs.map(({ samples }) => samples))
  const isEnough = samples >= stop.min_samples
  const winner = isEnough ? arms.findIndex((_, arm) => isBest(arm, pairs)) : -1
  return {
    verdict: verdictOf(winner, isEnough, pairs, stop.min_effect),
    winner: winner === -1 ? undefined : winner,
    pairs,
    samples,
    needed: Math.max(stop.min_samples, numbersNeeded(stop.min_effect / 2, variance || 0.125, alpha)),
  }
}

/** Whether a comparison that may end early can: something was shown, or that there is nothing to show. */
export function isDecided(plan: Plan, answers: readonly Scored[]): boolean {
  const { verdict } = decide(plan, withoutGaps(answers))
  return verdict === 'winner' || verdict === 'no_difference'
}

/** The answers before the first that is missing: which ones end first may have to do with what they say. */
export function withoutGaps<T extends Scored>(answers: readonly T[]): T[] {
  const sorted = answers.toSorted((a, b) => a.n - b.n)
  const gap = sorted.findIndex(({ n }, at) => n !== at)
  return gap === -1 ? sorted : sorted.slice(0, gap)
}

function verdictOf(winner: number, isEnough: boolean, pairs: readonly Pair[], least: number): Verdict {
  if (winner !== -1) return 'winner'
  if (!isEnough) return 'not_enough_samples'
  const isSame = ({ bounds }: Pair): boolean => bounds !== null && bounds.low > -least && bounds.high < least
  return pairs.every(isSame) ? 'no_difference' : 'undecided'
}

const isBest = (arm: number, pairs: readonly Pair[]): boolean =>
  pairs.every(({ arms: [a, b], bounds }) => {
    if (a !== arm && b !== arm) return true
    // Bounds that have crossed each other rule out everything, and so show nothing.
    if (bounds === null || bounds.low > bounds.high) return false
    return a === arm ? bounds.low > 0 : bounds.high < 0
  })

/** The differences are brought from the range of -1 to 1 into that of 0 to 1, and their bounds back. */
function pairOf(arms: Pair['arms'], values: readonly number[], alpha: number): Pair {
  const samples = values.length
  if (samples === 0) return { arms, samples, difference: null, bounds: null }
  const { low, high } = meanBounds(values, alpha)
  return {
    arms,
    samples,
    difference: 2 * meanOf(values) - 1,
    bounds: { low: 2 * low - 1, high: 2 * high - 1 },
  }
}

type Both = readonly [ReadonlyMap<number, number>, ReadonlyMap<number, number>]

const sameCases = ([a, b]: Both, count: number): number[] =>
  Array.from({ length: count }, (_, at) => [a.get(at), b.get(at)]).flatMap(([x, y]) =>
    x === undefined || y === undefined ? [] : [(x - y + 1) / 2],
  )

function inOrder([a, b]: Both): number[] {
  const others = [...b.values()]
  return [...a.values()].slice(0, others.length).map((x, at) => (x - others[at]! + 1) / 2)
}

/** The mean score of an arm for each case, in the order of the cases. */
function meansByCase(answers: readonly Scored[], arm: number): Map<number, number> {
  const all = new Map<number, number[]>()
  for (const { arm: of, case: at, score } of answers.toSorted((a, b) => a.n - b.n)) {
    if (of !== arm || score === undefined) continue
    const scores = all.get(at)
    if (scores) scores.push(score)
    else all.set(at, [score])
  }
  return new Map(Array.from(all, ([at, scores]) => [at, meanOf(scores)]))
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

function varianceOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const mean = meanOf(values)
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
}
