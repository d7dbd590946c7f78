import { z } from 'zod'
import { findingActions, findingTypes, severities } from '#kernel'
import { callStatuses } from '#kit'

const count = z.int().min(0)
const ms = z.number().min(0)
const usd = z.number()

const usage = z.object({
  input: count,
  output: count,
  cached_read: count,
  cache_write_5m: count,
  cache_write_1h: count,
  reasoning: count,
  audio_in: count,
  audio_out: count,
  image_in: count,
  source: z.enum(['provider', 'estimated', 'none']),
})

export const traceCost = z.object({
  input: usd,
  output: usd,
  cache: usd,
  other: usd,
  price_id: z.string().nullable(),
  source: z.enum(['catalogue', 'override', 'provider']).nullable(),
  unpriced: count.optional().meta({
    description:
      'Attempts that used tokens and whose price is not known, so that the call cost more; absent if there are none.',
  }),
  saved_usd: usd,
})

/** A guard's finding in a call, and the action on it. */
export const guardrail = z.object({
  rule_id: z.string().nullable(),
  module: z.string(),
  type: z.enum(findingTypes),
  severity: z.enum(severities),
  action: z.enum(findingActions),
  direction: z.enum(['request', 'response']),
  label: z.string().meta({ description: 'Kind of finding. The trace does not contain the text itself.' }),
  count,
  spans: z
    .array(
      z.object({
        role: z.string(),
        kind: z.string(),
        origin: z.string().optional(),
        start: count,
        end: count,
      }),
    )
    .meta({ description: 'Positions of the first findings, in characters of their text.' }),
  confidence: z.number().min(0).max(1).nullable(),
  shadow: z
    .boolean()
    .meta({ description: 'Whether the module runs in shadow and only records what it would have done.' }),
})

/** A choice on the way of a call, and its reason. */
export const decision = z.object({
  kind: z.string(),
  chosen: z.string(),
  considered: z.array(z.string()).optional(),
  reason: z.string(),
})

/** A trace as listings and the live view show it. */
export const traceItem = z.object({
  id: z.string(),
  request_id: z.string().nullable(),
  parent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable(),
  timestamp: z.string(),
  completed_at: z.string(),
  source: z.string(),
  operation: z.string(),
  wire: z.string(),
  user_id: z.string().nullable(),
  tenant: z.string().optional().meta({ description: 'Of the user; absent where there are no tenants.' }),
  key_id: z.string(),
  project: z.string(),
  tags: z.record(z.string(), z.string()),
  model_requested: z.string(),
  model: z.string(),
  provider: z.string().nullable(),
  provider_model: z.string().nullable(),
  status: z.enum(callStatuses),
  status_code: z.int().nullable(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      provider_status: z.int().nullable(),
      retryable: z.boolean(),
    })
    .nullable(),
  stream: z.boolean(),
  latency_ms: ms,
  ttft_ms: ms.nullable(),
  upstream_ms: ms,
  overhead_ms: ms.meta({ description: 'Time in the gateway itself.' }),
  tokens_per_second: z.number().nullable(),
  usage,
  tokens_in: count,
  tokens_out: count,
  cost_usd: usd.nullable().meta({ description: 'Null if the price of the model is not known.' }),
  cost: traceCost.nullable(),
  finish_reason: z.string().nullable(),
  cached: z.boolean(),
  cache: z.object({ kind: z.string(), age_s: z.number(), similarity: z.number().optional() }).nullable(),
  guardrails: z.array(guardrail),
  params_dropped: z.array(z.string()),
  params_renamed: z.array(z.string()),
  decisions: z.array(decision),
  chain_generation: z.int().nullable(),
})

export type TraceItem = z.infer<typeof traceItem>

const detail = z.record(z.string(), z.unknown())

/** A try at a provider, without its time, which is in the unit of the surrounding object. */
export const attempt = z.object({
  n: z.int(),
  provider: z.string(),
  model: z.string(),
  key_hint: z.string().nullable(),
  status: z.int().nullable(),
  cost_usd: usd
    .nullable()
    .meta({ description: 'Its part of what the call cost. Null if that is not known.' }),
  error: z.string().nullable(),
  reason_next: z.string().nullable().meta({ description: 'Why another attempt followed.' }),
})

/** A trace with everything that is known of it. */
export const traceDetail = traceItem.extend({
  usage: usage.extend({
    tool_calls: count.nullable().meta({
      description: 'Calls of tools in the stored answer. Null where no whole answer is stored.',
    }),
    search_calls: count.nullable().meta({
      description: 'Searches of the provider, as far as the stored answer says so; null else.',
    }),
  }),
  feedback: z.object({ count: z.int(), avg_rating: z.number().nullable() }).nullable().meta({
    description:
      'Ratings of users, and the mean of their scores from 0 to 1. Null where no plugin collects feedback.',
  }),
  native_finish_reason: z.string().nullable().meta({
    description:
      'The provider’s own word for the end, as far as the stored answer has one that is not the `finish_reason`.',
  }),
  attempts: z.array(attempt.extend({ latency_ms: ms.nullable() })),
  modules: z.array(
    z.object({
      module: z.string(),
      version: z.string().nullable().meta({
        description: 'Of its code. Null where the chain of that generation is not kept any more.',
      }),
      hook: z.string().nullable(),
      mode: z
        .enum(['enforce', 'shadow'])
        .meta({ description: 'In shadow a module only records what it would have done.' }),
      verdict: z.string(),
      ms,
      changed: z
        .array(z.string())
        .meta({ description: 'Paths of what it changed, without their content; none for streams.' }),
      bytes_delta: z.int().nullable().meta({
        description:
          'Bytes of JSON by which the request or the answer grew. Null where it changed neither as a whole.',
      }),
      detail: detail.nullable(),
    }),
  ),
  config_hash: z.string().nullable().meta({
    description:
      'The `hash` that GET /api/config had for this generation. Null where it is not kept, and where the generation was over before it was read.',
  }),
  facts: detail.meta({ description: 'Facts that modules recorded about the call, by name.' }),
  request: z.unknown(),
  response: z.unknown(),
  body_status: z.enum(['stored', 'redacted', 'truncated', 'expired', 'erased', 'unreadable', 'none', 'off']),
})

export type TraceDetail = z.infer<typeof traceDetail>
