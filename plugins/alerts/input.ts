import { z } from 'zod'
import { webAddress } from '#kit'
import { metricNames } from './metrics.ts'
import { bounds, channelTypes, conditions, filterLists, groupings, severities } from './rule-fields.ts'

const symbols = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' } as const

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Seconds, or a text such as 5m. */
const duration = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z
    .union([
      z.int(),
      z.string().regex(/^\d{1,9}[smhd]$/, 'must be seconds, or a text such as 30s, 5m, 24h or 7d'),
    ])
    .transform((given) => (typeof given === 'number' ? given : secondsOf(given)))
    .pipe(z.int().min(min).max(max))

const secondsOf = (text: string): number =>
  Number(text.slice(0, -1)) * unitSeconds[text.at(-1) as keyof typeof unitSeconds]

/** One value may stand without a list. */
const oneOrMore = <T extends z.ZodType>(list: z.ZodArray<T>) =>
  z
    .union([list.element, list])
    .transform((given) => (Array.isArray(given) ? given : [given]) as z.infer<T>[])
    .optional()

const filter = z
  .strictObject({
    model: oneOrMore(filterLists.model),
    provider: oneOrMore(filterLists.provider),
    user_id: oneOrMore(filterLists.user_id),
    key_id: oneOrMore(filterLists.key_id),
    project: oneOrMore(filterLists.project),
    source: oneOrMore(filterLists.source),
  })
  .meta({
    description:
      'Which calls count: one value or a list for each field, models as globs. Without `source` only calls of clients (proxy) count.',
  })

const target = z.string().min(1).max(2000).meta({
  description:
    'For webhook the id of a webhook, or an address; for slack and discord the address; for pagerduty the integration key.',
})

const channel = z.strictObject({
  type: z.enum(channelTypes),
  target: target.nullable().optional(),
  url: webAddress.optional().meta({ description: 'For pagerduty: another address of its service.' }),
})
export type ChannelInput = z.infer<typeof channel>

const channelConfig = z.strictObject({
  url: webAddress.optional(),
  target: target.optional(),
})

const fields = {
  name: z.string().trim().min(1).max(200),
  metric: z.enum(metricNames),
  condition: z
    .enum([...conditions, ...(Object.keys(symbols) as (keyof typeof symbols)[])])
    .transform((given) => (given in symbols ? symbols[given as keyof typeof symbols] : given))
    .pipe(z.enum(conditions)),
  threshold: z.number().min(-1e15).max(1e15),
  window_seconds: duration(bounds.window).meta({ description: 'Seconds, or a text such as 5m or 24h.' }),
  window: duration(bounds.window).meta({ description: 'The same as window_seconds.' }),
  min_samples: z.int().min(0).max(1_000_000).meta({
    description: 'Below so many calls in the window there is no data. With 0, sums of silence are 0.',
  }),
  group_by: z.enum(groupings),
  filter,
  severity: z.enum(severities),
  channels: z.array(channel).max(bounds.channels),
  channel: z.enum(channelTypes).meta({ description: 'One channel, with channel_config.' }),
  action: z.enum(channelTypes).meta({ description: 'The same as channel.' }),
  channel_config: channelConfig,
  cooldown_seconds: duration(bounds.cooldown).meta({
    description: 'The least time between two firings of a group; as long as the window by default.',
  }),
  enabled: z.boolean(),
}

const absent = {
  window_seconds: fields.window_seconds.optional(),
  window: fields.window.optional(),
  channel: fields.channel.optional(),
  action: fields.action.optional(),
  channel_config: fields.channel_config.optional(),
}

/** A rule as admins give it. */
export const ruleInput = z.strictObject({
  ...absent,
  name: fields.name,
  metric: fields.metric,
  condition: fields.condition,
  threshold: fields.threshold,
  min_samples: fields.min_samples.optional(),
  group_by: fields.group_by.optional(),
  filter: fields.filter.optional(),
  severity: fields.severity.optional(),
  channels: fields.channels.optional(),
  cooldown_seconds: fields.cooldown_seconds.nullable().optional(),
  enabled: fields.enabled.optional(),
})
export type RuleInput = z.infer<typeof ruleInput>

/** A change of a rule: absent fields stay, null clears one. */
export const ruleChange = z.strictObject({
  ...absent,
  name: fields.name.optional(),
  metric: fields.metric.optional(),
  condition: fields.condition.optional(),
  threshold: fields.threshold.optional(),
  min_samples: fields.min_samples.optional(),
  group_by: fields.group_by.optional(),
  filter: fields.filter.nullable().optional(),
  severity: fields.severity.optional(),
  channels: fields.channels.nullable().optional(),
  cooldown_seconds: fields.cooldown_seconds.nullable().optional(),
  enabled: fields.enabled.optional(),
})
export type RuleChange = z.infer<typeof ruleChange>
