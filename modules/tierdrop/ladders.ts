import { z } from 'zod'

const model = z.string().min(1).max(256)

export const ladderSchema = z
  .strictObject({
    models: z.array(model).min(2).max(20).meta({
      title: 'Models',
      description: 'The models of a family, from the best to the cheapest.',
    }),
    at_percent: z.array(z.number().min(0).max(100)).min(1).max(19).default([80, 95]).meta({
      title: 'Steps',
      description:
        'Percentages of the fullest cap at which calls go one model further down; 0 for all calls. At 100 they go to the last.',
    }),
  })
  .refine(({ models }) => new Set(models.map(nameOf)).size === models.length, 'names a model twice')

type Ladder = z.infer<typeof ladderSchema>

/** The models of all ladders; a model may be on one only. */
export const laddersSchema = z.array(ladderSchema).refine((ladders) => {
  const names = ladders.flatMap(({ models }) => models.map(nameOf))
  return new Set(names).size === names.length
}, 'name a model on two ladders')

/** Finds the cheaper models that calls go to. */
export class Ladders {
  readonly #all: readonly Ladder[]
  readonly #rungs = new Map<string, { readonly ladder: Ladder; readonly rung: number }>()

  constructor(ladders: readonly Ladder[]) {
    this.#all = ladders
    for (const ladder of ladders)
      for (const [rung, name] of ladder.models.entries()) this.#rungs.set(nameOf(name), { ladder, rung })
  }

  /** The models that a call for this one may go to when such a share is spent, the best first; none for one on no ladder. */
  from(name: string, share: number): readonly string[] {
    const found = this.#rungs.get(nameOf(name))
    if (!found) return []
    const { ladder, rung } = found
    const to = Math.min(rung + stepsOf(ladder, share), ladder.models.length - 1)
    return [to === rung ? name : ladder.models[to]!, ...ladder.models.slice(to + 1)]
  }

  has(name: string): boolean {
    return this.#rungs.has(nameOf(name))
  }

  /** The share above this one at which a call for this model goes further down; undefined where there is none. */
  stepAfter(name: string, share: number): number | undefined {
    const { ladder } = this.#rungs.get(nameOf(name)) ?? {}
    const shares = ladder ? [...ladder.at_percent.map((percent) => percent / 100), 1] : []
    const [now] = this.from(name, share)
    const above = shares.filter((one) => one > share && this.from(name, one)[0] !== now)
    return above.length > 0 ? Math.min(...above) : undefined
  }

  /** What makes answers differ: the steps of all ladders; undefined where none is taken. */
  stepsAt(share: number): string | undefined {
    const steps = this.#all.map((ladder) => stepsOf(ladder, share))
    return steps.some((step) => step > 0) ? steps.join() : undefined
  }
}

function stepsOf({ models, at_percent }: Ladder, share: number): number {
  if (share >= 1) return models.length - 1
  return at_percent.filter((percent) => share >= percent / 100).length
}

/** Providers write a maker before the name, and letter case does not matter. */
const nameOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1).toLowerCase()
