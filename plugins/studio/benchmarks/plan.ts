import { badRequest } from '#kernel'
import { takingTurns } from '#kit'
import type { Assertion } from '../runs/assertion.ts'
import { checkPlan, type Means } from '../runs/check.ts'
import type { Arm, Case, Plan } from '../runs/plan.ts'
import { fromShortForm } from '../runs/short-form.ts'
import type { Definition } from './input.ts'

const places = {
  cases: 'prompts',
  assertions: (at: number | undefined) => `prompts.${at ?? 0}.assertions`,
}

/** Cases below which no model is called the best: their differences are bounded without such a rule, so it is low. */
const leastSamples = 10

/** What a run of a benchmark asks. Throws a bad request that names the field for what cannot be carried out. */
export async function planOf(benchmark: Definition, means: Means): Promise<Plan> {
  const { models, prompts, runs } = benchmark
  const arms = models.map((one): Arm => {
    const arm = typeof one === 'string' ? { model: one } : one
    return { ...arm, id: ('id' in arm ? arm.id : undefined) ?? arm.model, weight: 1 }
  })
  const twice = arms.findIndex(({ id }, at) => arms.findIndex((other) => other.id === id) !== at)
  if (twice !== -1)
    throw badRequest(`body models.${twice}: is there twice; give one an \`id\`.`, {
      param: `models.${twice}`,
    })
  const cases: Case[] = []
  const turn = takingTurns()
  for (const [at, one] of prompts.entries()) {
    await turn()
    cases.push(caseOf(one, at, benchmark.judge))
  }
  const plan: Plan = {
    arms,
    cases,
    assertions: [],
    repetitions: runs,
    design: 'all',
    seed: 0,
    stop: { min_samples: leastSamples, confidence: 0.95, min_effect: 0.1, early: false },
  }
  await checkPlan(plan, new Map(), places, means)
  return plan
}

function caseOf(one: Definition['prompts'][number], at: number, judge: Definition['judge']): Case {
  const { eval: _, eval_arg: __, ...rest } = one
  return { ...rest, assertions: assertionsOf(one, at, judge) }
}

function assertionsOf(
  { assertions, eval: type, eval_arg: argument }: Definition['prompts'][number],
  at: number,
  judge: Definition['judge'],
): readonly Assertion[] {
  const param = `prompts.${at}.assertions`
  if (assertions && type !== undefined)
    throw badRequest(`body ${param}: takes the place of \`eval\`; send one of them.`, { param })
  if (assertions) return assertions
  if (type === undefined) throw badRequest(`body ${param}: is missing.`, { param })
  const { model, provider, rubric } = judge ?? {}
  const usual = judge && { model, ...(provider !== undefined && { provider }), criteria: rubric }
  return [fromShortForm(type, argument, `prompts.${at}.eval`, usual)]
}
