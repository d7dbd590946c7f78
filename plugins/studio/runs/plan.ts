import { hash } from 'node:crypto'
import type { Message } from '#kernel'
import type { Assertion } from './assertion.ts'

/** What is compared: a model with what it is asked with. */
export interface Arm {
  readonly id: string
  readonly name?: string | undefined
  readonly model: string
  readonly provider?: string | undefined
  readonly system?: string | undefined
  /** In Mustache; the message of the user. */
  readonly prompt?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** A version that does not change. */
  readonly template?: { readonly id: string; readonly slug: string; readonly version: number } | undefined
  readonly weight: number
}

/** A question that arms are asked. */
export interface Case {
  readonly name: string
  readonly prompt?: string | undefined
  readonly messages?: readonly Message[] | undefined
  readonly system?: string | undefined
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly expected?: string | undefined
  /** Its own, in place of those of the plan. */
  readonly assertions?: readonly Assertion[] | undefined
  readonly weight: number
  /** Modules that have added to its messages already: those of a past call. */
  readonly added?: readonly string[] | undefined
}

/** When a comparison is decided. */
export interface StopRule {
  readonly min_samples: number
  readonly confidence: number
  /** The least difference of scores that matters. */
  readonly min_effect: number
  /** Whether it ends as soon as it is decided. */
  readonly early: boolean
}

/** All that a run asks, as it stands when it begins. */
export interface Plan {
  readonly arms: readonly Arm[]
  readonly cases: readonly Case[]
  readonly assertions: readonly Assertion[]
  readonly repetitions: number
  /** `all`: each arm gets each case. `split`: each case goes to one arm, by the seed. */
  readonly design: 'all' | 'split'
  readonly seed: number
  readonly stop: StopRule
}

/** One call of a run: who is asked what, by their places in the plan. */
export interface Cell {
  readonly n: number
  readonly arm: number
  readonly case: number
  readonly repetition: number
}

/** The calls of a run in their order: the arms take turns, so that a run that ends early has asked all of them as much. */
export function cellsOf(plan: Plan): Cell[] {
  const { arms, cases, repetitions, design } = plan
  const cells: Cell[] = []
  for (const at of cases.keys()) {
    const asked = design === 'all' ? arms.keys() : [armOf(plan, at)]
    const order = [...asked]
    for (let repetition = 0; repetition < repetitions; repetition += 1)
      for (const arm of order) cells.push({ n: cells.length, arm, case: at, repetition })
  }
  return cells
}

/** How many calls that are, without making them. */
export const callsOf = ({ arms, cases, repetitions, design }: Plan): number =>
  cases.length * repetitions * (design === 'all' ? arms.length : 1)

/** The arm that a case goes to: always the same for one seed, by weighted rendezvous hashing (Schindelhauer and Schomaker, 2005). */
function armOf({ arms, seed }: Plan, at: number): number {
  let chosen = 0
  let highest = Number.NEGATIVE_INFINITY
  for (const [arm, { id, weight }] of arms.entries()) {
    const draw = hash('sha256', `${seed} ${id} ${at}`, 'buffer').readUInt32BE(0)
    const score = -weight / Math.log((draw + 0.5) / 2 ** 32)
    if (score > highest) [chosen, highest] = [arm, score]
  }
  return chosen
}

/** What an answer must fulfil. */
export const assertionsOf = ({ assertions }: Plan, { assertions: own }: Case): readonly Assertion[] =>
  own ?? assertions
