import { z } from 'zod'
import { usdOf } from '#kit'

const side = z.object({
  provider: z.string().optional(),
  model: z.string().optional(),
  latency_ms: z.number(),
  /** Undefined where the price is not known. */
  cost_nano: z.int().optional(),
  output_tokens: z.int(),
})

/** One copied call, as it is stored: figures, and nothing of the texts. */
export const row = z.object({
  id: z.string(),
  /** Of the call that was copied. */
  trace_id: z.string(),
  at: z.int(),
  /** The module or the binding that copied it. */
  by: z.string(),
  target: z.string(),
  source: side,
  mirror: side.optional(),
  /** Why there is no comparison. */
  problem: z.string().optional(),
  similarity: z.number().optional(),
  length_ratio: z.number().optional(),
  structure: z.enum(['same', 'different']).optional(),
})

export type Row = z.infer<typeof row>
export type Side = z.infer<typeof side>

const number = z.number().nullable()
const sideItem = z.object({
  provider: z.string().nullable(),
  model: z.string().nullable(),
  latency_ms: z.number(),
  cost_usd: number,
  output_tokens: z.int(),
})

/** One copied call, as admins see it. */
export const item = z.object({
  id: z.string(),
  trace_id: z.string(),
  created_at: z.string(),
  configuration: z.string(),
  target: z.string(),
  source: sideItem,
  mirror: sideItem.nullable(),
  problem: z.string().nullable(),
  similarity: number.meta({ description: 'From 0 to 1, by words.' }),
  length_ratio: number.meta({ description: 'Length of the mirrored answer by that of the answer given.' }),
  structure: z
    .enum(['same', 'different'])
    .nullable()
    .meta({ description: 'Of answers in JSON and function calls: fields and types.' }),
})

export function itemOf({ id, trace_id, at, by, target, source, mirror, ...rest }: Row): z.infer<typeof item> {
  return {
    id,
    trace_id,
    created_at: new Date(at).toISOString(),
    configuration: by,
    target,
    source: shownSide(source),
    mirror: mirror ? shownSide(mirror) : null,
    problem: rest.problem ?? null,
    similarity: rest.similarity ?? null,
    length_ratio: rest.length_ratio ?? null,
    structure: rest.structure ?? null,
  }
}

const shownSide = ({ provider, model, latency_ms, cost_nano, output_tokens }: Side) => ({
  provider: provider ?? null,
  model: model ?? null,
  latency_ms,
  cost_usd: cost_nano === undefined ? null : usdOf(cost_nano),
  output_tokens,
})
