import { badRequest } from '#kernel'
import type { Changes } from './changes.ts'
import { abilitiesOf } from './model.ts'

/** Tokens to think with, as Google itself reads the efforts. */
const budgets: ReadonlyMap<string, number> = new Map(
  Object.entries({
    none: 0,
    minimal: 1024,
    low: 1024,
    medium: 8192,
    high: 24576,
    xhigh: 24576,
  }),
)

const levels: ReadonlyMap<string, string> = new Map(
  Object.entries({
    none: 'minimal',
    minimal: 'minimal',
    low: 'low',
    medium: 'medium',
    high: 'high',
    xhigh: 'high',
  }),
)

/** Least budget of a model that always thinks. */
const leastOfPro = 128

/** Fewest tokens of a budget that is meant as more than a little. */
const muchOfBudget = 4096

/** The effort that Anthropic's way of asking for thoughts comes to; undefined where it is not there. */
export function effortOf(thinking: unknown): string | undefined {
  if (typeof thinking !== 'object' || thinking === null) return undefined
  const { type, budget_tokens: budget = muchOfBudget } = thinking as {
    type?: unknown
    budget_tokens?: number
  }
  if (type === 'disabled') return 'none'
  return budget < muchOfBudget ? 'low' : 'high'
}

/** How much to think, for models that are told; with summaries of the thoughts, unless there are to be none. */
export function thinkingOf(effort: unknown, model: string, changes: Changes): object | undefined {
  if (effort === undefined || effort === null) return undefined
  if (typeof effort !== 'string' || !budgets.has(effort)) {
    const param = 'reasoning_effort'
    throw badRequest(`${param}: expected ${[...budgets.keys()].join(', ')}.`, { param })
  }
  const { thinking } = abilitiesOf(model)
  if (thinking === 'none') {
    changes.add('-reasoning_effort')
    return undefined
  }
  const isPro = /-pro/.test(model)
  const told = (value: string | number): void => changes.add(`reasoning_effort:${effort}->${value}`)
  if (thinking === 'budget') {
    const budget = effort === 'none' && isPro ? leastOfPro : budgets.get(effort)!
    if (budget !== budgets.get(effort) || effort === 'xhigh') told(budget)
    return { thinkingBudget: budget, ...(effort !== 'none' && { includeThoughts: true }) }
  }
  const level = isPro ? levelOfPro(effort) : levels.get(effort)!
  if (level !== effort) told(level)
  return { thinkingLevel: level, ...(effort !== 'none' && { includeThoughts: true }) }
}

/** The large models know two levels. */
const levelOfPro = (effort: string): string =>
  effort === 'none' || effort === 'minimal' || effort === 'low' ? 'low' : 'high'
