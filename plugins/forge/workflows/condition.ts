import { z } from 'zod'
import { canonicalJson, isPattern, patternSize, patternTest } from '#kit'
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

const several = z.lazy(() => z.array(whole).min(1).max(20))

const whole: z.ZodType<Condition> = z.union([
  z.string().min(1).max(1000),
  z.strictObject({ value, op: z.enum(comparisons), than: value }),
  z.strictObject({
    value,
    op: z.literal('matches'),
    pattern: z.string().max(1000).refine(isPattern, 'is no regular expression in RE2 syntax'),
  }),
  z.strictObject({ value, op: z.literal('exists') }),
  z.strictObject({ all: several }),
  z.strictObject({ any: several }),
  z.strictObject({ not: z.lazy(() => whole) }),
])

/** A condition. Its documentation has the outer form only, since schemas of routes stand alone and cannot name themselves. */
export const condition = z
  .union([z.string().min(1).max(1000), z.record(z.string(), z.unknown())])
  .superRefine((question, { addIssue }) => {
    for (const issue of whole.safeParse(question).error?.issues ?? []) addIssue({ ...issue })
  })
  .meta({
    description:
      'A tag, which holds unless it shows false, null, 0, an empty text or an empty list; or `{value, op, than}` with eq, ne, gt, gte, lt, lte, in or contains; `{value, op: "matches", pattern}`; `{value, op: "exists"}`; and `all`, `any`, `not` over others.',
  }) as unknown as z.ZodType<Condition>

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
