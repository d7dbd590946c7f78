import { z } from 'zod'
import { defineEvent } from '#kernel'
import { metricNames } from './metrics.ts'
import { conditions, groupings, severities } from './rule-fields.ts'

const about = {
  alert_id: z.string(),
  rule_name: z.string(),
  metric: z.enum(metricNames),
  metric_value: z.number().nullable(),
  condition: z.enum(conditions),
  threshold: z.number(),
  severity: z.enum(severities),
  group_by: z.enum(groupings),
  group: z
    .string()
    .nullable()
    .meta({ description: 'A value of group_by; null for a rule that does not group.' }),
  message: z.string(),
  history_id: z.string().meta({ description: 'Of the entry in the history, the same for both events.' }),
  fired_at: z.string().meta({ format: 'date-time' }),
}

export const AlertFired = defineEvent('alert.fired', z.object({ ...about, state: z.literal('firing') }), {
  description: 'An alert rule is breached. Sent once for each group, however long it lasts.',
})

export const AlertResolved = defineEvent(
  'alert.resolved',
  z.object({
    ...about,
    state: z.enum(['ok', 'no_data']),
    resolved_at: z.string().meta({ format: 'date-time' }),
  }),
  { description: 'What alert.fired has told of is over, or has no data any more.' },
)

export type Told = z.infer<typeof AlertFired.schema> | z.infer<typeof AlertResolved.schema>
