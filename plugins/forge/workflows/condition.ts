import { z } from 'zod'
import { canonicalJson, patternSize, patternTest } from '#kit'
import { StepFault } from '../steps/fault.ts'
import { isThere, type Scope, type Value, value, valued } from './value.ts'

const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains'] as const

type Comparison = (typeof comparisons)[number]

/** A question about values. It is data, so that a strange one costs no more than its length. */
export type Condition =
  | string
  | { value: Value; op: Comparison; than: Value }
  | { value: Value; op: 'matches'; pattern: string }
  | { value: Value; op: 'exists' }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition }

/** Questions that are about no others. Their patterns are read where the whole workflow is checked. */
const asked = {
  matches: z.strictObject({ value, op: z.literal('matches'), pattern: z.string().max(1000) }),
  exists: z.strictObject({ value, op: z.literal('exists') }),
  compares: z.strictObject({ value, op: z.enum(comparisons), than: value }),
}
const tag = z.string().min(1).max(1000)
const several = z.array(z.unknown()).min(1).max(20)

/** What is first wrong with a condition, and where: of all that is wrong a long one has as much to tell as it has questions. */
function faultIn(
  question: unknown,
  path: PropertyKey[] = [],
): { path: PropertyKey[]; message: string } | undefined {
  const misfit = (schema: z.ZodType, what: unknown, at: PropertyKey[]) => {
    const [issue] = schema.safeParse(what).error?.issues ?? []
    return issue && { path: [...at, ...issue.path], message: issue.message }
  }
  if (typeof question !== 'object' || question === null) return misfit(tag, question, path)
  const [name, ...others] = Object.keys(question)
  if ((name === 'not' || name === 'all' || name === 'any') && others.length === 0) {
    const inner = (question as Record<string, unknown>)[name]
    const at = [...path, name]
    if (name === 'not') return faultIn(inner, at)
    const fault = misfit(several, inner, at)
    if (fault) return fault
    for (const [n, one] of (inner as unknown[]).entries()) {
      const fault = faultIn(one, [...at, n])
      if (fault) return fault
    }
    return undefined
  }
  const { op } = question as { readonly op?: unknown }
  return misfit(op === 'matches' || op === 'exists' ? asked[op] : asked.compares, question, path)
}

/** A condition. Its documentation has the outer form only, since schemas of routes stand alone and cannot name themselves. */
export const condition = z
  .union([z.string().min(1).max(1000), z.record(z.string(), z.unknown())])
  .superRefine((question, { addIssue }) => {
    const fault = faultIn(question)
    if (fault) addIssue({ code: 'custom', ...fault })
  })
  .meta({
    description:
      'A tag, which holds unless it shows false, null, 0, an empty text or an empty list; or `{value, op, than}` with eq, ne, gt, gte, lt, lte, in or contains; `{value, op: "matches", pattern}`; `{value, op: "exists"}`; and `all`, `any`, `not` over others.',
  }) as unknown as z.ZodType<Condition>

/** The questions about patterns in a condition, with their paths. */
export function* matchesIn(question: Condition, at: string): Iterable<{ pattern: string; at: string }> {
  if (typeof question === 'string') return
  if ('not' in question) yield* matchesIn(question.not, `${at}.not`)
  else if ('all' in question || 'any' in question) {
    const [name, several] =
      'all' in question ? (['all', question.all] as const) : (['any', question.any] as const)
    for (const [n, one] of several.entries()) yield* matchesIn(one, `${at}.${name}.${n}`)
  } else if (question.op === 'matches') yield { pattern: question.pattern, at: `${at}.pattern` }
}

/**
 * Steps that the patterns of one condition may take, each of them for each character at the worst: half a second, in which nobody
 * else is served.
 */
const mostSteps = 20_000_000

/**
 * Whether a condition holds. Throws a `StepFault` for a value that is not there, which only `exists` may ask about, for one that
 * its tags make larger than `most` bytes, and for texts that its patterns would take long for.
 */
export function holds(question: Condition, scope: Scope, most: number): boolean {
  return holdsWithin({ steps: mostSteps }, question, scope, most)
}

function holdsWithin(budget: { steps: number }, question: Condition, scope: Scope, most: number): boolean {
  const within = (one: Condition): boolean => holdsWithin(budget, one, scope, most)
  if (typeof question === 'string') return isTrue(valued(question, scope))
  if ('all' in question) return question.all.every(within)
  if ('any' in question) return question.any.some(within)
  if ('not' in question) return !within(question.not)
  if (question.op === 'exists') return isThere(question.value, scope, most)
  const left = valued(question.value, scope, most)
  if (question.op === 'matches') return matches(String(left), question.pattern, budget)
  return compares(left, question.op, valued(question.than, scope, most))
}

function matches(text: string, pattern: string, budget: { steps: number }): boolean {
  budget.steps -= text.length * (patternSize(pattern) ?? 1)
  if (budget.steps < 0)
    throw new StepFault(
      'too_large',
      'The patterns of the condition take too long for what they are asked about: repeat less in them.',
    )
  return patternTest(pattern)(text)
}

const isTrue = (left: Value): boolean => Boolean(left) && !(Array.isArray(left) && left.length === 0)

function compares(left: Value, op: Comparison, right: Value): boolean {
  switch (op) {
    case 'eq':
      return isSame(left, right)
    case 'ne':
      return !isSame(left, right)
    case 'in':
      return Array.isArray(right) && right.some((item) => isSame(left, item))
    case 'contains':
      if (Array.isArray(left)) return left.some((item) => isSame(item, right))
      return typeof left === 'string' && left.includes(String(right))
    default:
      return isOrdered(op, left, right)
  }
}

/** Numbers are compared as such, also where one of them is a text that a model wrote; other texts by their characters. */
function isOrdered(op: 'gt' | 'gte' | 'lt' | 'lte', left: Value, right: Value): boolean {
  const [a, b] = [numberOf(left), numberOf(right)]
  const bothTexts = typeof left === 'string' && typeof right === 'string'
  const difference = a !== undefined && b !== undefined ? a - b : bothTexts ? order(left, right) : Number.NaN
  if (op === 'gt') return difference > 0
  if (op === 'gte') return difference >= 0
  return op === 'lt' ? difference < 0 : difference <= 0
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const numberOf = (from: Value): number | undefined => {
  const number = typeof from === 'string' && from.trim() !== '' ? Number(from) : from
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const isSame = (a: Value, b: Value): boolean => canonicalJson(a) === canonicalJson(b)
