import { z } from 'zod'
import { callStatuses } from '#kit'
import { attempt, decision } from '../shapes.ts'

const us = z.int().min(0)

const shape = z.object({
  type: z.enum(['absent', 'null', 'text', 'list', 'object', 'number', 'flag']),
  size: z.int().optional().meta({ description: 'Characters of a text, or entries of a list or an object.' }),
  value: z.union([z.number(), z.boolean()]).optional(),
})

const link = z.object({
  order: z.int().nullable(),
  name: z.string(),
  version: z.string().nullable(),
  phase: z.string().nullable(),
  mode: z
    .enum(['enforce', 'shadow'])
    .meta({ description: 'In shadow, verdicts say what the module would have done.' }),
  outcome: z.enum(['ran', 'skipped', 'off', 'idle', 'broken', 'passive', 'not_reached']),
  reason: z.string().meta({ description: 'Reason, as text for people.' }),
  condition: z.string().optional().meta({ description: 'The condition of `when` that was not met.' }),
  us: us.meta({ description: 'Microseconds in all its hooks.' }),
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

/** The answer of `GET /api/observe/traces/{id}/explain`. */
export const traceExplanation = z.object({
  trace_id: z.string(),
  status: z.enum(callStatuses),
  status_code: z.int().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  generation: z.int().nullable(),
  arrangement: z.enum(['kept', 'unknown']).meta({
    description:
      'Whether the arrangement of the chain is known. If not, only modules that left something in the trace are listed.',
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
    call_usd: z.number().meta({ description: 'Price of the call itself, in addition to its tokens.' }),
    total_usd: z.number().nullable().meta({ description: 'The booked cost.' }),
    reproduced: z.boolean().meta({
      description:
        "Whether the items, at today's knowledge of the prices at that time, add up to the booked cost.",
    }),
    reason: z.string(),
  }),
  times: z.object({
    total_us: us,
    provider_us: us,
    gateway_us: us.meta({ description: 'All time except waiting for a provider.' }),
    modules_us: us.meta({ description: 'The part of it in hooks of modules.' }),
  }),
})

export type TraceExplanation = z.infer<typeof traceExplanation>
