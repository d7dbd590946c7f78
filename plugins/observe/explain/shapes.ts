import { z } from 'zod'
import { statuses } from '../row.ts'
import { attempt, decision } from '../shapes.ts'

const us = z.int().min(0)

const shape = z.object({
  type: z.enum(['absent', 'null', 'text', 'list', 'object', 'number', 'flag']),
  size: z.int().optional().meta({ description: 'Characters of a text, parts of a list or an object.' }),
  value: z.union([z.number(), z.boolean()]).optional(),
})

const link = z.object({
  order: z.int().nullable(),
  name: z.string(),
  version: z.string().nullable(),
  phase: z.string().nullable(),
  mode: z
    .enum(['enforce', 'shadow'])
    .meta({ description: 'In shadow, verdicts are what it would have done.' }),
  outcome: z.enum(['ran', 'skipped', 'off', 'idle', 'broken', 'passive', 'not_reached']),
  reason: z.string().meta({ description: 'Why, for people.' }),
  condition: z.string().optional().meta({ description: 'The condition of its `when` that was not met.' }),
  us: us.meta({ description: 'Microseconds in all of its hooks.' }),
  hooks: z.array(z.object({ hook: z.string(), us })),
  verdicts: z.array(z.object({ verdict: z.string(), detail: z.record(z.string(), z.unknown()).nullable() })),
  changes: z.array(
    z.object({ of: z.enum(['request', 'reply']), path: z.string(), before: shape, after: shape }),
  ),
})

const item = z.object({
  class: z.string(),
  tokens: z.int(),
  usd_per_m: z.number(),
  cost_usd: z.number(),
})

/** What `GET /api/observe/traces/{id}/explain` answers. */
export const traceExplanation = z.object({
  trace_id: z.string(),
  status: z.enum(statuses),
  status_code: z.int().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  generation: z.int().nullable(),
  arrangement: z.enum(['kept', 'unknown']).meta({
    description:
      'Whether it is known how the chain was arranged; if not, only modules that left something are told of.',
  }),
  modules: z.array(link),
  route: z.object({
    model_requested: z.string(),
    model: z.string(),
    provider: z.string().nullable(),
    provider_model: z.string().nullable(),
    decisions: z.array(decision),
    attempts: z.array(attempt.extend({ us: us.nullable() })),
    cache: z.object({ kind: z.string(), age_s: z.number() }).nullable(),
    params_changed: z.array(z.string()),
  }),
  price: z.object({
    price_id: z.string().nullable(),
    source: z.string().nullable(),
    items: z.array(item),
    call_usd: z.number().meta({ description: 'For the call itself, beside its tokens.' }),
    total_usd: z.number().nullable().meta({ description: 'What was booked.' }),
    reproduced: z.boolean().meta({
      description: 'Whether the items, at the prices known today for that time, add up to what was booked.',
    }),
    reason: z.string(),
  }),
  times: z.object({
    total_us: us,
    provider_us: us,
    gateway_us: us.meta({ description: 'All that was not waiting for a provider.' }),
    modules_us: us.meta({ description: 'Of it, in hooks of modules.' }),
  }),
})

export type TraceExplanation = z.infer<typeof traceExplanation>
