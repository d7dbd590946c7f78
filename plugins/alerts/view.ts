import { z } from 'zod'
import type { PulseSettings, WebhookSender } from '#kernel'
import { cooldownOf, type Evaluation } from './evaluation.ts'
import type { Firings } from './firings.ts'
import { warningsOf } from './given.ts'
import { type History, type HistoryRow, historyRow } from './history.ts'
import { channelRow, type RuleRow, ruleRow, states } from './rule-fields.ts'
import type { Silences } from './silences.ts'

const time = z.string().meta({ format: 'date-time' })
const number = z.number().nullable()

const { type, target } = channelRow.shape

/** A rule as admins see it. */
export const ruleItem = z.object(ruleRow.shape).extend({
  channels: z.array(z.object({ type, target })),
  cooldown_seconds: z.int(),
  state: z.enum(states),
  last_value: number.meta({
    description: 'Of the last check; of several groups the value nearest to a breach.',
  }),
  last_fired_at: time.nullable(),
  firing_groups: z.int().meta({ description: 'Groups that fire; 1 for a rule that does not group.' }),
  groups: z.int().meta({ description: 'Groups whose values are kept.' }),
  groups_dropped: z.int().meta({ description: 'Groups that were forgotten for newer ones since the start.' }),
  silenced_until: time.nullable(),
  warnings: z.array(z.string()),
})

const delivery = z.object({
  event: z.string(),
  type,
  target,
  webhook_id: z.string().nullable(),
  status: z.enum(['pending', 'success', 'failed', 'dropped', 'subscribers', 'unknown']).meta({
    description: 'Subscribers: it went to the webhooks that subscribed. Unknown: not kept any more.',
  }),
  attempts: z.int(),
  error: z.string().nullable(),
})

const { channels: _, sent: __, acknowledged: ___, ...entry } = historyRow.shape

/** A firing as admins see it. */
export const historyItem = z.object(entry).extend({
  fired_at: time,
  resolved_at: time.nullable(),
  acknowledged_at: time.nullable(),
  acknowledged_by: z.string().nullable(),
  note: z.string().nullable(),
  deliveries: z.array(delivery),
})

/** What a rule's item is made of beside its row. */
export interface Standings {
  readonly evaluation: Evaluation
  readonly firings: Firings
  readonly silences: Silences
  readonly history: History
  pulse(): PulseSettings | undefined
}

/** A rule with how it stands. */
export async function ruleItemOf(
  row: RuleRow,
  { evaluation, firings, silences, history, pulse }: Standings,
): Promise<z.infer<typeof ruleItem>> {
  const watched = evaluation.get(row.id)
  const firing = firings.firing(row.id).length
  return {
    ...row,
    cooldown_seconds: cooldownOf(row, pulse()) / 1000,
    state: firing > 0 ? 'firing' : (watched?.state ?? 'no_data'),
    last_value: watched?.lastValue ?? null,
    last_fired_at: (await history.newest(row.id))?.fired_at ?? null,
    firing_groups: firing,
    groups: watched?.rule.groups.size ?? 0,
    groups_dropped: watched?.rule.groups.dropped ?? 0,
    silenced_until: timeOf(silences.until(row.id, Date.now())),
    warnings: warningsOf(row),
  }
}

/** An entry with what came of its deliveries. */
export async function historyItemOf(
  { acknowledged, sent, channels: _, ...row }: HistoryRow,
  sender: WebhookSender | undefined,
): Promise<z.infer<typeof historyItem>> {
  return {
    ...row,
    acknowledged_at: acknowledged?.at ?? null,
    acknowledged_by: acknowledged?.by ?? null,
    note: acknowledged?.note ?? null,
    deliveries: await Promise.all(sent.map((one) => deliveryOf(one, sender))),
  }
}

async function deliveryOf(
  { event, occurrence, type, target, webhook }: HistoryRow['sent'][number],
  sender: WebhookSender | undefined,
): Promise<z.infer<typeof delivery>> {
  const about = { event, type, target, webhook_id: webhook }
  if (type === 'log') return { ...about, status: 'success', attempts: 1, error: null }
  if (webhook === null && target === null)
    return { ...about, status: 'subscribers', attempts: 0, error: null }
  if (webhook === null)
    return { ...about, status: 'failed', attempts: 0, error: 'The webhook was gone, or webhooks were off.' }
  const found = await sender?.delivery(occurrence, webhook)
  return {
    ...about,
    status: found?.status ?? 'unknown',
    attempts: found?.attempts ?? 0,
    error: found?.error ?? null,
  }
}

const timeOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString()
