import { badRequest, newId } from '#kernel'
import { type ChannelParts, givenChannels } from './given-channels.ts'
import type { RuleChange, RuleInput } from './input.ts'
import { metricOf } from './metrics.ts'
import type { RuleRow } from './rule-fields.ts'

const usualWindow = 300

/** The row of a new rule. */
export async function ruleOf(parts: ChannelParts, input: RuleInput): Promise<RuleRow> {
  const now = new Date().toISOString()
  return { id: newId('al_'), ...(await ruleFields(parts, input)), created_at: now, updated_at: now }
}

/** What a rule says; keys of its channels are those of the rule before where the input shows only their ends. */
export async function ruleFields(
  parts: ChannelParts,
  input: RuleInput,
  before?: RuleRow,
): Promise<Omit<RuleRow, 'id' | 'created_at' | 'updated_at'>> {
  return {
    name: input.name,
    metric: input.metric,
    condition: input.condition,
    threshold: input.threshold,
    window_seconds: windowOf(input) ?? usualWindow,
    min_samples: input.min_samples ?? 1,
    group_by: input.group_by ?? 'none',
    filter: input.filter ?? {},
    severity: input.severity ?? 'warning',
    channels: (await givenChannels(parts, input, before?.channels)) ?? [],
    cooldown_seconds: input.cooldown_seconds ?? null,
    enabled: input.enabled ?? true,
  }
}

/** The row after a change. */
export async function changedRule(parts: ChannelParts, row: RuleRow, change: RuleChange): Promise<RuleRow> {
  const {
    window,
    channels,
    channel,
    action,
    channel_config,
    filter,
    cooldown_seconds: cooldown,
    ...rest
  } = change
  const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...row,
    ...said,
    window_seconds: windowOf(change) ?? row.window_seconds,
    channels: (await givenChannels(parts, change, row.channels)) ?? row.channels,
    ...(filter !== undefined && { filter: filter ?? {} }),
    ...(cooldown !== undefined && { cooldown_seconds: cooldown }),
    updated_at: new Date().toISOString(),
  }
}

/** What about a rule is probably not meant. */
export function warningsOf({ metric, condition, threshold }: RuleRow): string[] {
  const isUpper = condition === 'gt' || condition === 'gte'
  if (metricOf(metric).isShare && (threshold > 1 || threshold < 0))
    return [
      `${metric} is a share from 0 to 1: with ${threshold} the rule ${isUpper === threshold > 1 ? 'never' : 'always'} fires. 5 % is 0.05.`,
    ]
  return []
}

function windowOf({ window_seconds: seconds, window }: RuleChange): number | undefined {
  if (seconds !== undefined && window !== undefined && seconds !== window)
    throw badRequest('body window: says something else than window_seconds.', { param: 'window' })
  return seconds ?? window
}
