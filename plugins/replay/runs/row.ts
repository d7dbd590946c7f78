import { z } from 'zod'

export const visibilities = ['private', 'shared'] as const
export type Visibility = (typeof visibilities)[number]
export const runStatuses = ['running', 'success', 'error'] as const

const count = z.int().min(0).nullable()

/** One of the two calls of a run; null is what is not known, or not yet. */
const side = z.object({
  trace_id: z.string().nullable(),
  model: z.string(),
  provider: z.string().nullable(),
  tokens_in: count,
  tokens_out: count,
  cost_usd: z.number().nullable().meta({ description: 'Null if the price of the model is not known.' }),
  latency_ms: z.number().nullable(),
  ttft_ms: z.number().nullable().meta({ description: 'Until the first content of the answer.' }),
})
export type Side = z.infer<typeof side>

const quality = z.object({
  similarity: z.number().nullable().meta({
    description:
      'From 0 to 1: the share of words and pairs of words that both answers have. It knows no meaning.',
  }),
  json_valid: z.boolean().nullable().meta({
    description: 'Whether the new answer is JSON; null where the call did not ask for JSON.',
  }),
  source_json_valid: z.boolean().nullable(),
})
export type Quality = z.infer<typeof quality>

const error = z.object({ code: z.string(), message: z.string() })

/** A run as it is stored. What was said in it is in its two traces alone, under their rules. */
export const runRow = z.object({
  id: z.string(),
  /** Whose run it is; absent for one of an admin. */
  user_id: z.string().optional(),
  /** The owner's. */
  tenant: z.string().optional(),
  /** Whose call it repeats. */
  source_user_id: z.string().optional(),
  batch_id: z.string().optional(),
  visibility: z.enum(visibilities),
  status: z.enum(runStatuses),
  source: side,
  target: side,
  quality,
  /** `Overrides` as JSON, sealed where that is asked for. */
  overrides: z.string(),
  error: error.optional(),
  created_at: z.string(),
  ended_at: z.string().optional(),
})
export type RunRow = z.infer<typeof runRow>

const time = z.string().meta({ format: 'date-time' })
const change = z.number().nullable()

/** A run as lists show it. */
export const runItem = z.object({
  id: z.string(),
  user_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  visibility: z.enum(visibilities).meta({ description: 'Shared runs are made by admins and read by all.' }),
  status: z.enum(runStatuses),
  source: side,
  target: side,
  delta: z.object({ cost_usd: change, latency_ms: change, total_tokens: change }),
  quality,
  error: error.nullable(),
  created_at: time,
  ended_at: time.nullable(),
})
export type RunItem = z.infer<typeof runItem>

const said = side.extend({
  response: z.string().nullable().meta({
    description: 'What the answer says, as its trace has it; null when there is none, or it is not stored.',
  }),
})

/** A run with what was said in it. */
export const runDetail = runItem.extend({
  source: said,
  target: said,
  request: z.unknown().meta({ description: 'As it was made; null when it is not stored.' }),
  overrides: z.record(z.string(), z.unknown()),
})

/** Tokens of both directions; null where they are not known. */
export const tokensOf = ({ tokens_in, tokens_out }: Side): number | null =>
  tokens_in === null || tokens_out === null ? null : tokens_in + tokens_out

/** How much more the second is, to nine decimals: nano-dollars; null where one of them is not known. */
export const changeBy = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : Math.round((after - before) * 1e9) / 1e9

export const itemOf = ({ tenant: _, source_user_id: __, overrides: ___, ...row }: RunRow): RunItem => ({
  ...row,
  user_id: row.user_id ?? null,
  batch_id: row.batch_id ?? null,
  delta: {
    cost_usd: changeBy(row.source.cost_usd, row.target.cost_usd),
    latency_ms: changeBy(row.source.latency_ms, row.target.latency_ms),
    total_tokens: changeBy(tokensOf(row.source), tokensOf(row.target)),
  },
  error: row.error ?? null,
  ended_at: row.ended_at ?? null,
})
