import { z } from 'zod'

export const priorities = ['critical', 'high', 'medium', 'low'] as const
export const categories = ['cost', 'quality', 'safety', 'reliability', 'latency'] as const

export const change = z.object({
  path: z.string().meta({ description: 'The key of the configuration, such as `modules.cachelayer`.' }),
  before: z.unknown().meta({ description: 'What is set there now; null for nothing.' }),
  after: z.unknown(),
})

/** Something to be done. */
export const action = z.object({
  id: z.string().meta({ description: 'The same as long as it is about the same thing.' }),
  priority: z.enum(priorities),
  category: z.enum(categories),
  title: z.string(),
  description: z.string(),
  impact: z.object({
    usd_month: z.number().nullable().meta({
      description:
        'What the analyzed calls of the week would have cost less, times 30/7; null where it is not about money.',
    }),
    pct: z.number().nullable().meta({ description: 'That as a part of what the week has cost.' }),
  }),
  confidence: z.enum(['high', 'medium', 'low']).meta({
    description: 'By the calls that it stands on: 100 or more, 20 or more, fewer.',
  }),
  effort: z.enum(['automatic', 'one_click', 'manual']),
  auto_apply: z.boolean().meta({
    description: 'Whether it is safe: it can be taken back, and changes what no prompt and no answer says.',
  }),
  change: change.nullable().meta({ description: 'Null where a person has to decide what to change.' }),
  evidence_trace_ids: z.array(z.string()),
  insight_id: z.string(),
})
export type Action = z.infer<typeof action>

export const stageNames = ['observe', 'score', 'analyze', 'recommend'] as const

export const stage = z.object({
  name: z.enum(stageNames),
  status: z.enum(['done', 'skipped']),
  duration_ms: z.number(),
  findings: z.int(),
})

export const summary = z.object({
  traces_analyzed: z.int(),
  complete: z.boolean().meta({ description: 'Whether these were all traces of the week.' }),
  total_spend_usd: z.number(),
  projected_monthly_savings_usd: z.number().meta({
    description:
      'Of the action that saves most: savings of several do not add up, since a call may be part of more than one.',
  }),
  models_used: z.int(),
  providers_used: z.int(),
  error_rate_pct: z.number(),
  insights_found: z.int(),
  action_count: z.int(),
  grade: z.enum(['A', 'B', 'C', 'D', 'F']).nullable(),
})

export const applied = z.object({ action_id: z.string(), generation: z.int(), rollback_id: z.string() })

export const report = z.object({
  generated_at: z.string().meta({ format: 'date-time' }),
  duration_ms: z.number(),
  stages: z.array(stage),
  summary,
  actions: z.array(action).meta({ description: 'The most urgent first.' }),
  applied: z.array(applied),
  next_steps: z.array(z.string()),
})
export type Report = z.infer<typeof report>
