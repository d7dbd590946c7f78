import { z } from 'zod'
import type { Awaitable, Call } from '#kernel'
import { isModelRefusal, languageDetector, patternSchema, patternTest, similarity } from '#kit'
import { type Ask, criterion, judging } from './judge.ts'

const patterns = z.array(patternSchema).max(50).default([])
const share = z.number().min(0).max(1)

/** What an answer must be. Nothing is checked that is not set. */
export const checkSettings = {
  min_characters: z.int().min(1).max(1_000_000).optional().meta({
    title: 'Least characters',
    description: 'Characters that an answer must have.',
  }),
  max_characters: z.int().min(1).max(1_000_000).optional().meta({
    title: 'Most characters',
    description: 'Characters that an answer may have.',
  }),
  must_match: patterns.meta({
    title: 'Must match',
    description: 'Regular expressions (RE2) that an answer must have a match of, each of them.',
  }),
  must_not_match: patterns.meta({
    title: 'Must not match',
    description: 'Regular expressions (RE2) that an answer may have no match of.',
  }),
  json: z.boolean().default(false).meta({
    title: 'JSON',
    description: 'Whether an answer must be JSON, without anything around it.',
  }),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, 'must be a code of two letters, such as en')
    .optional()
    .meta({
      title: 'Language',
      description:
        'The language that an answer must be in, as a code such as `en`. Short ones whose language cannot be told pass.',
    }),
  no_refusal: z.boolean().default(false).meta({
    title: 'No refusal',
    description: 'Whether the model may not decline.',
  }),
  similar_to: z
    .strictObject({
      text: z.string().min(1).max(50_000).meta({ description: 'The reference.' }),
      min: share.default(0.5).meta({ description: 'The least likeness that passes.' }),
    })
    .optional()
    .meta({
      title: 'Like a reference',
      description: 'A text that answers must be like, and how much: 1 has all its words and no others.',
    }),
  judge: criterion.optional().meta({
    title: 'Judge',
    description:
      'A model that scores answers from 0 to 1 by a rubric, with the keys of the caller, who pays. An answer of which it gives no score passes.',
  }),
}

export type CheckSettings = z.infer<z.ZodObject<typeof checkSettings>>

/** What a check finds. An answer that fails it has a problem, in words for the model. */
export interface Verdict {
  /** From 0 to 1. */
  readonly score: number
  readonly problem?: string
}

/** An answer: its text, and what the model said in place of one. */
export interface Given {
  readonly text: string
  readonly refusal: unknown
}

/** Undefined where it says nothing of an answer. */
export type Check = (given: Given, call: Call) => Awaitable<Verdict | undefined>

const good: Verdict = { score: 1 }
const graded = (score: number, min: number, problem: string): Verdict =>
  score >= min ? { score } : { score, problem }
const unless = (isGood: boolean, problem: string): Verdict => (isGood ? good : { score: 0, problem })

/** The checks that are set, by name, cheap ones first. */
export async function compileChecks(
  settings: CheckSettings,
  ask: Ask | undefined,
): Promise<Map<string, Check>> {
  const { min_characters: least, max_characters: most, language, similar_to, judge } = settings
  const checks = new Map<string, Check>()
  const add = (name: string, check: (text: string, call: Call) => Awaitable<Verdict | undefined>): unknown =>
    checks.set(name, ({ text }, call) => check(text, call))
  if (least !== undefined || most !== undefined)
    add('length', (text) => lengthOf(text, least ?? 0, most ?? Number.POSITIVE_INFINITY))
  for (const [at, source] of settings.must_match.entries()) {
    const matches = patternTest(source)
    add(`must_match.${at}`, (text) => unless(matches(text), `it must match ${source}`))
  }
  for (const [at, source] of settings.must_not_match.entries()) {
    const matches = patternTest(source)
    add(`must_not_match.${at}`, (text) => unless(!matches(text), `it must not match ${source}`))
  }
  if (settings.json) add('json', (text) => unless(isJson(text), 'it must be JSON, and nothing else'))
  if (settings.no_refusal)
    checks.set('no_refusal', ({ text, refusal }) =>
      unless(!isModelRefusal(refusal, text), 'it must not decline to answer'),
    )
  if (language !== undefined) {
    const languageOf = await languageDetector()
    add('language', (text) =>
      unless((languageOf(text) ?? language) === language, `it must be in the language ${language}`),
    )
  }
  if (similar_to) {
    const { text: reference, min } = similar_to
    add('similar_to', (text) =>
      graded(similarity(text, reference), min, 'it must say what the reference says'),
    )
  }
  if (judge && ask) add('judge', judging(judge, ask))
  return checks
}

function lengthOf(text: string, least: number, most: number): Verdict {
  if (text.length < least)
    return { score: text.length / least, problem: `it must have at least ${least} characters` }
  if (text.length > most)
    return { score: most / text.length, problem: `it must have at most ${most} characters` }
  return good
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
