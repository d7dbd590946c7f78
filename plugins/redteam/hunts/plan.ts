import { type Genome, nameOf } from '../attacks/genome.ts'
import { attackTypeOf } from '../attacks/types/index.ts'
import { fits, mutate } from './mutations.ts'
import { Random } from './random.ts'

/** An attack of the generation before, and how well it did. */
export interface Parent {
  readonly id: string
  readonly genome: Genome
  readonly status: string
}

export interface PlannedAttack {
  readonly index: number
  readonly genome: Genome
  readonly parent?: string
  readonly mutations: readonly string[]
}

export interface PlanInput {
  readonly seed: string
  readonly types: readonly string[]
  readonly strategies: readonly string[]
  readonly languages: readonly string[]
  readonly population: number
  readonly parents: readonly Parent[]
  /** Names of the genomes that were tried already. */
  readonly tried: ReadonlySet<string>
}

/** Chances to find an attack that was not tried, before its place stays empty. */
const chances = 30
/** The share of attacks that come from no parent. */
const fresh = 0.2
/** Parents that compete to have a child. */
const contest = 3
const fitness: Readonly<Record<string, number>> = { bypassed: 3, inconclusive: 2, blocked: 1, error: 0 }

/**
 * The attacks of a generation: children of what did best in the one before, and some new ones. The same input gives the same plan, so
 * that a hunt that was cut off goes on where it was. No attack is tried twice in a campaign.
 */
export function planGeneration(input: PlanInput): readonly PlannedAttack[] {
  const random = new Random(input.seed)
  const tried = new Set(input.tried)
  const planned: PlannedAttack[] = []
  for (let index = 0; index < input.population; index += 1) {
    const isNew = input.parents.length === 0 || random.next() < fresh
    for (let chance = 0; chance < chances; chance += 1) {
      const made =
        isNew || chance > (2 / 3) * chances ? newAttack(input, index, chance, random) : child(input, random)
      const name = made && nameOf(made.genome)
      if (!made || name === undefined || tried.has(name)) continue
      tried.add(name)
      planned.push({ index, ...made })
      break
    }
  }
  return planned
}

type Made = Omit<PlannedAttack, 'index'>

function child({ parents, strategies }: PlanInput, random: Random): Made | undefined {
  const parent = best(parents, random)
  const made = mutate(parent.genome, best(parents, random).genome, strategies, random)
  if (!made) return undefined
  const { genome, mutation } = made
  return { genome, parent: parent.id, mutations: [mutation] }
}

/** Types take turns. The first attacks of each are in plain words, so that it shows what strategies add. */
function newAttack(
  { types, strategies, languages }: PlanInput,
  index: number,
  chance: number,
  random: Random,
): Made | undefined {
  const type = types[index % types.length]!
  const seeds = attackTypeOf(type)!.seeds.filter(({ language }) => languages.includes(language))
  if (seeds.length === 0) return undefined
  const isPlain = strategies.length === 0 || (index < types.length && chance < chances / 3)
  const count = isPlain ? 0 : 1 + Math.floor(random.next() * 2)
  const chosen = Array.from({ length: count }, () => random.of(strategies))
  if (!fits(chosen)) return undefined
  return { genome: { type, seed: random.of(seeds).id, strategies: chosen }, mutations: [] }
}

function best(parents: readonly Parent[], random: Random): Parent {
  const some = Array.from({ length: contest }, () => random.of(parents))
  return some.reduce((one, other) => (fitness[other.status]! > fitness[one.status]! ? other : one))
}
