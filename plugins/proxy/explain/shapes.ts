import { z } from 'zod'

const shape = z.object({
  type: z.enum(['absent', 'null', 'text', 'list', 'object', 'number', 'flag']),
  size: z.int().optional().meta({ description: 'Characters of a text, or entries of a list or an object.' }),
  value: z.union([z.number(), z.boolean()]).optional(),
})

const link = z.object({
  order: z.int().meta({ description: 'From 1, outermost first.' }),
  name: z.string(),
  phase: z.string(),
  mode: z.enum(['enforce', 'shadow']),
  hooks: z.array(z.string()),
  outcome: z.enum(['runs', 'share', 'skipped', 'off', 'idle', 'broken', 'refuses', 'answers', 'not_reached']),
  reason: z.string().meta({ description: 'Reason, as text for people.' }),
  condition: z.string().optional().meta({ description: 'The condition of `when` that is not met.' }),
  effect: z.enum(['known', 'unknown']).meta({
    description: 'Whether the effect on the request is shown. Only modules without side effects are run.',
  }),
  changes: z.array(z.object({ path: z.string(), before: shape, after: shape })),
})

const rate = z.union([
  z.number(),
  z.object({ base: z.number(), tiers: z.array(z.object({ start: z.int(), price: z.number() })) }),
])

const error = z.object({ code: z.string(), message: z.string(), status: z.int() })

/** The body of `POST /api/proxy/chain/explain`. */
export const explainBody = z.strictObject({
  path: z.string().default('/v1/chat/completions').meta({ description: 'The path of the request.' }),
  request: z.record(z.string(), z.unknown()).meta({ description: 'The body, as a client would send it.' }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Headers of the client, such as X-Project and X-Service-Tags.' }),
  caller: z.strictObject({ key_id: z.string().optional(), user_id: z.string().optional() }).optional().meta({
    description: 'For admins: the caller of the explained call; by default the caller of this route.',
  }),
  ip: z.string().optional().meta({ description: 'For admins: the address of the caller.' }),
})

/** The answer of it. */
export const explanation = z.object({
  generation: z.int(),
  operation: z.string(),
  wire: z.string(),
  caller: z.object({
    type: z.string(),
    key_id: z.string(),
    user_id: z.string().nullable(),
    plan: z.string(),
  }),
  verdict: z.enum(['would_call', 'would_refuse', 'would_answer', 'cannot_route']),
  error: error.nullable().meta({ description: 'The error that the client would get.' }),
  modules: z.array(link),
  model_requested: z.string(),
  model: z.string().meta({ description: 'After aliases and other known changes.' }),
  decisions: z.array(z.object({ kind: z.string(), chosen: z.string(), reason: z.string() })),
  route: z
    .object({
      provider: z.string(),
      model: z.string().meta({ description: "The provider's name for the model." }),
      reason: z.string(),
      circuit: z.enum(['closed', 'open', 'half_open']),
      key: z.object({
        owner: z.enum(['user', 'global', 'none']),
        source: z.enum(['user', 'api', 'config', 'environment', 'none']),
        hints: z
          .array(z.string())
          .optional()
          .meta({ description: 'Last characters of the available keys; only for admins.' }),
      }),
    })
    .nullable(),
  considered: z.array(
    z.object({ provider: z.string(), model: z.string(), reason: z.string(), configured: z.boolean() }),
  ),
  price: z
    .object({
      price_id: z.string(),
      source: z.enum(['catalogue', 'override']),
      origin: z.string(),
      usd_per_m: z.record(z.string(), rate).meta({ description: 'USD per million tokens, by class.' }),
      call_usd: z.number().nullable(),
    })
    .nullable(),
  estimate: z.object({
    tokens_in: z.int().meta({ description: 'Estimated with four characters per token.' }),
    tokens_out_max: z
      .int()
      .nullable()
      .meta({ description: 'Largest number of tokens that the request allows; null for no limit.' }),
    input_usd: z.number().nullable(),
    output_usd_max: z.number().nullable(),
    total_usd_max: z.number().nullable(),
  }),
})

export type Explanation = z.infer<typeof explanation>
