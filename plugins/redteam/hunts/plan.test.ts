import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Genome, nameOf } from '../attacks/genome.ts'
import { strategies } from '../attacks/strategies.ts'
import { attackTypes } from '../attacks/types/index.ts'
import { Money } from './money.ts'
import { fits } from './mutations.ts'
import { type Parent, planGeneration } from './plan.ts'

const all = {
  types: attackTypes.map(({ id }) => id),
  strategies: strategies.map(({ id }) => id),
  languages: ['en', 'de', 'fr', 'es'],
}

const parentsOf = (planned: readonly { genome: Genome }[], status = 'bypassed'): Parent[] =>
  planned.map(({ genome }, n) => ({ id: `att_${n}`, genome, status }))

test('the same seed plans the same attacks, another seed others, and none is tried twice', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (seed, population) => {
      const tried = new Set<string>()
      let parents: Parent[] = []
      for (let generation = 1; generation <= 3; generation += 1) {
        const input = { ...all, seed: `${seed} ${generation}`, population, parents, tried }
        const plan = planGeneration(input)
        expect(planGeneration(input)).toEqual(plan)
        const names = plan.map(({ genome }) => nameOf(genome))
        expect(new Set(names).size).toBe(names.length)
        expect(names.some((name) => tried.has(name))).toBe(false)
        expect(plan.every(({ genome }) => fits(genome.strategies))).toBe(true)
        for (const name of names) tried.add(name)
        parents = parentsOf(plan)
      }
    }),
    { numRuns: 50 },
  )
  const of = (seed: string) => planGeneration({ ...all, seed, population: 20, parents: [], tried: new Set() })
  expect(of('a')).not.toEqual(of('b'))
})

test('the first generation has each type in plain words, and later ones come from what did best', () => {
  const first = planGeneration({ ...all, seed: 's', population: 12, parents: [], tried: new Set() })
  const plain = first.filter(({ genome }) => genome.strategies.length === 0)
  expect(plain.map(({ genome }) => genome.type)).toEqual(all.types)
  const [winner, ...others] = parentsOf(first, 'blocked')
  const parents = [{ ...winner!, status: 'bypassed' }, ...others.slice(0, 2)]
  const tried = new Set(first.map(({ genome }) => nameOf(genome)))
  const next = planGeneration({ ...all, seed: 's 2', population: 40, parents, tried })
  const children = next.filter(({ parent }) => parent !== undefined)
  expect(children.every(({ mutations }) => mutations.length === 1)).toBe(true)
  const ofWinner = children.filter(({ parent }) => parent === winner!.id)
  expect(ofWinner.length).toBeGreaterThan(children.length / 3)
  expect(children.length).toBeGreaterThan(next.length / 2)
})

test('a campaign that has no other attacks to try leaves places empty', () => {
  const plan = planGeneration({
    types: ['tool_abuse'],
    strategies: [],
    languages: ['en'],
    seed: 's',
    population: 10,
    parents: [],
    tried: new Set(),
  })
  expect(plan.length).toBe(2)
})

test('shares of money never add up to more than the budget, whatever goes on at a time', async () => {
  const usd = 0.001
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 0, max: 100 })), {
        minLength: 1,
        maxLength: 200,
      }),
      async (calls) => {
        const money = Money.of(usd, 0)
        const { signal } = new AbortController()
        let [spent, reserved] = [0, 0]
        const make = async ([most, percent]: readonly [number, number]): Promise<void> => {
          for (;;) {
            const share = await money.claim(signal)
            const nano = Math.round(share.maxCostUsd! * 1e9)
            reserved += nano
            expect(spent + reserved).toBeLessThanOrEqual(1_000_000)
            await Promise.resolve()
            reserved -= nano
            if (most > nano) {
              share.tooSmall()
              continue
            }
            const cost = Math.floor((most * percent) / 100)
            spent += cost
            share.settle(cost)
            return
          }
        }
        await Promise.allSettled(calls.map(make))
        expect(spent).toBeLessThanOrEqual(1_000_000)
        expect(reserved).toBe(0)
      },
    ),
    { numRuns: 50 },
  )
})
