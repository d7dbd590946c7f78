import type { Genome } from '../attacks/genome.ts'
import { strategyOf } from '../attacks/strategies.ts'
import { attackTypeOf } from '../attacks/types/index.ts'
import type { Random } from './random.ts'

/** Strategies of one attack. */
const mostStrategies = 3

/** A genome and what was changed to get it. */
export interface Mutated {
  readonly genome: Genome
  readonly mutation: string
}

type Mutate = (
  parent: Genome,
  strategies: readonly string[],
  random: Random,
  other: Genome,
) => Mutated | undefined

/** At most one way to the model, and each strategy once. */
export function fits(ids: readonly string[]): boolean {
  const carriers = ids.filter((id) => strategyOf(id)?.carrier)
  return ids.length <= mostStrategies && carriers.length <= 1 && new Set(ids).size === ids.length
}

const mutations: Readonly<Record<string, Mutate>> = {
  add(parent, strategies, random) {
    if (strategies.length === 0) return undefined
    const id = random.of(strategies)
    return { genome: { ...parent, strategies: [...parent.strategies, id] }, mutation: `add ${id}` }
  },
  swap(parent, strategies, random) {
    const { strategies: before } = parent
    if (before.length === 0 || strategies.length === 0) return undefined
    const at = Math.floor(random.next() * before.length)
    const id = random.of(strategies)
    return {
      genome: { ...parent, strategies: before.with(at, id) },
      mutation: `swap ${before[at]} for ${id}`,
    }
  },
  drop(parent, _, random) {
    const { strategies: before } = parent
    if (before.length === 0) return undefined
    const id = random.of(before)
    return {
      genome: { ...parent, strategies: before.filter((one) => one !== id) },
      mutation: `drop ${id}`,
    }
  },
  turn(parent) {
    const { strategies: before } = parent
    if (before.length < 2) return undefined
    return { genome: { ...parent, strategies: before.toReversed() }, mutation: 'turn the order' }
  },
  reword(parent, _, random) {
    const seeds = attackTypeOf(parent.type)?.seeds ?? []
    if (seeds.length === 0) return undefined
    const { id } = random.of(seeds)
    const { words: __, ...rest } = parent
    return { genome: { ...rest, seed: id }, mutation: `reword as ${id}` }
  },
  cross(parent, _, __, other) {
    return { genome: { ...parent, strategies: other.strategies }, mutation: 'cross' }
  },
}

/** A child of a genome, by one mutation; undefined where that one does not apply. */
export function mutate(
  parent: Genome,
  other: Genome,
  strategies: readonly string[],
  random: Random,
): Mutated | undefined {
  const made = random.of(Object.values(mutations))(parent, strategies, random, other)
  return made && fits(made.genome.strategies) ? made : undefined
}
