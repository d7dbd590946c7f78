import { z } from 'zod'
import { badRequest } from '#kernel'
import { parseForeign, type Schemas, similarity, textStructure } from '#kit'
import { checkSchema, schemaTest } from '../runs/patterns.ts'

/** How an answer must be like the pinned one. */
export const match = z.strictObject({
  method: z.enum(['exact', 'schema', 'similarity']).default('similarity').meta({
    description:
      'exact: the same text. schema: JSON that matches `schema`, or else has the fields and types of the pinned one. similarity: the same words.',
  }),
  threshold: z.number().min(0).max(1).default(0.8).meta({
    description: 'The similarity from which on an answer is like the pinned one.',
  }),
  schema: z.record(z.string(), z.unknown()).optional(),
})
export type Match = z.infer<typeof match>

/** How far an answer is from the pinned one. */
export const drift = z.object({
  exact: z.boolean().meta({ description: 'Whether it is the same text.' }),
  schema: z.boolean().nullable().meta({
    description: 'Whether it has the form of the pinned one; null for one that has none.',
  }),
  similarity: z.number().meta({ description: 'The share of words and pairs of words in common.' }),
})
export type Drift = z.infer<typeof drift>

/** Refuses a match that no answer can be held to. */
export async function checkMatch(
  schemas: Schemas,
  { method, schema }: Match,
  baseline: string,
): Promise<void> {
  if (schema !== undefined && method !== 'schema')
    throw badRequest('body match.schema: belongs to the method schema.', { param: 'match.schema' })
  if (schema) await checkSchema(schemas, schema, 'match.schema')
  if (method === 'schema' && !schema && textStructure(baseline) === undefined)
    throw badRequest('body match.schema: is missing, and the pinned answer is no JSON.', {
      param: 'match.schema',
    })
}

export async function driftOf(
  schemas: Schemas,
  { schema }: Match,
  baseline: string,
  answer: string,
): Promise<Drift> {
  return {
    exact: answer.trim() === baseline.trim(),
    schema: schema ? await fits(schemas, schema, answer) : hasFormOf(baseline, answer),
    similarity: Math.round(similarity(answer, baseline) * 10_000) / 10_000,
  }
}

/** From 0 to 1, by the method. */
export function matchScore({ method }: Match, drift: Drift): number {
  return method === 'similarity' ? drift.similarity : Number(drift[method] === true)
}

export const isLike = (match: Match, drift: Drift): boolean =>
  matchScore(match, drift) >= (match.method === 'similarity' ? match.threshold : 1)

function hasFormOf(baseline: string, answer: string): boolean | null {
  const form = textStructure(baseline)
  return form === undefined ? null : textStructure(answer) === form
}

async function fits(schemas: Schemas, schema: Record<string, unknown>, answer: string): Promise<boolean> {
  try {
    return await schemaTest(schemas, schema)(parseForeign(answer), answer.length)
  } catch {
    return false
  }
}
