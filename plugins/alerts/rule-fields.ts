import { z } from 'zod'
import { callSources } from '#kernel'
import { metricNames } from './metrics.ts'

export const conditions = ['gt', 'gte', 'lt', 'lte'] as const
export const groupings = ['none', 'model', 'provider', 'user', 'project'] as const
export const severities = ['info', 'warning', 'critical'] as const
export const channelTypes = ['webhook', 'email', 'log', 'slack', 'pagerduty', 'discord'] as const
export const states = ['ok', 'firing', 'no_data'] as const
export type State = (typeof states)[number]

export const bounds = {
  /** Seconds. A window shorter than this is decided by single calls; a longer one is read from too many traces at a start. */
  window: { min: 10, max: 604_800 },
  cooldown: { min: 0, max: 2_592_000 },
  channels: 10,
  filterValues: 100,
} as const

const values = z.array(z.string().min(1).max(200)).min(1).max(bounds.filterValues)

/** The values of which a call must have one, by field; models are globs. */
export const filterLists = {
  model: values,
  provider: values,
  user_id: values,
  key_id: values,
  project: values,
  source: z
    .array(z.enum(['proxy', ...callSources]))
    .min(1)
    .max(callSources.length + 1),
}

const filterSchema = z.strictObject(filterLists).partial()
export type Filter = z.infer<typeof filterSchema>

/** A channel as it is stored. */
export const channelRow = z.strictObject({
  type: z.enum(['webhook', 'log', 'slack', 'pagerduty', 'discord']),
  /** What is shown: the id of a webhook, an address, or the end of a key; null where there is nothing to say. */
  target: z.string().nullable(),
  /** Where it is sent; null for a webhook of its own id, and for the log. */
  url: z.string().nullable(),
  /** PagerDuty's integration key, encrypted. */
  key: z.string().optional(),
})
export type ChannelRow = z.infer<typeof channelRow>

/** A rule as it is stored. */
export const ruleRow = z.strictObject({
  id: z.string(),
  name: z.string(),
  metric: z.enum(metricNames),
  condition: z.enum(conditions),
  threshold: z.number(),
  window_seconds: z.int(),
  min_samples: z.int(),
  group_by: z.enum(groupings),
  filter: filterSchema,
  severity: z.enum(severities),
  channels: z.array(channelRow),
  /** Null for the usual one. */
  cooldown_seconds: z.int().nullable(),
  enabled: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type RuleRow = z.infer<typeof ruleRow>
