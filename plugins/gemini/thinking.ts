import { badRequest, type ModelRequest } from '#kernel'
import type { Changes } from '#provider'
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

/** Largest budgets. */
const mostOfPro = 32_768
const mostOfOthers = 24_576

/** How Anthropic's clients ask for thoughts. */
interface Asked {
  readonly type?: unknown
  readonly budget_tokens?: unknown
  readonly display?: unknown
}

/** The amount of thinking, for models that take it; with summaries of the thoughts, unless there are to be none. */
export function thinkingOf(request: ModelRequest, model: string, changes: Changes): object | undefined {
  const asked = (request.thinking ?? undefined) as Asked | undefined
  const effort = request.reasoning_effort ?? effortIn(request.output_config)
  const given = request.reasoning_effort ?? (asked?.type === 'disabled' ? 'none' : effort)
  const field = request.reasoning_effort != null ? 'reasoning_effort' : asked ? 'thinking' : 'output_config'
  if (given === undefined && asked === undefined) return undefined
  if (given !== undefined && (typeof given !== 'string' || !budgets.has(given))) {
    const param = 'reasoning_effort'
    throw badRequest(`${param}: expected ${[...budgets.keys()].join(', ')}.`, { param })
  }
  const { thinking } = abilitiesOf(model)
  if (thinking === 'none') {
    if (given !== 'none') changes.add(`-${field}`)
    return undefined
  }
  const shown = given !== 'none' && asked?.display !== 'omitted' && { includeThoughts: true }
  const told = (from: unknown, to: string | number): void => changes.add(`${field}:${String(from)}->${to}`)
  const budget = given === undefined ? budgetIn(asked) : undefined
  if (thinking === 'budget')
    return { thinkingBudget: budgetFor(given, budget, /-pro/.test(model), told), ...shown }
  const wanted = given ?? ((budget ?? muchOfBudget) < muchOfBudget ? 'low' : 'high')
  const level = levelFor(wanted, model)
  if (budget !== undefined || level !== wanted) told(budget ?? wanted, level)
  return { thinkingLevel: level, ...shown }
}

/** The effort that Anthropic's clients ask for; theirs knows one that is more than the most here. */
function effortIn(config: unknown): unknown {
  const { effort } = (config ?? {}) as { readonly effort?: unknown }
  return effort === 'max' ? 'xhigh' : (effort ?? undefined)
}

const budgetIn = ({ budget_tokens: budget }: Asked = {}): number | undefined =>
  typeof budget === 'number' ? budget : undefined

/** The budget of an effort, or the one that was asked for as far as the model goes. */
function budgetFor(
  effort: string | undefined,
  asked: number | undefined,
  isPro: boolean,
  told: (from: unknown, to: number) => void,
): number {
  if (asked !== undefined) {
    const budget = Math.min(asked, isPro ? mostOfPro : mostOfOthers)
    if (budget !== asked) told(asked, budget)
    return budget
  }
  if (effort === undefined) return freely
  const budget = effort === 'none' && isPro ? leastOfPro : budgets.get(effort)!
  if (budget !== budgets.get(effort) || effort === 'xhigh') told(effort, budget)
  return budget
}

/** Leaves the budget to the model. */
const freely = -1

/** The large models always think, and the first of them knows two levels only. */
function levelFor(effort: string, model: string): string {
  const level = levels.get(effort)!
  if (!/-pro/.test(model)) return level
  if (level === 'minimal') return 'low'
  return level === 'medium' && /gemini-3-pro/.test(model) ? 'high' : level
}
