import { z } from 'zod'
import type { Collection, Page, PageOptions, Store } from '#kernel'
import type { Fire } from './change.ts'
import { metricNames } from './metrics.ts'
import { wholeGroup } from './rule.ts'
import { channelRow, conditions, groupings, severities, states } from './rule-fields.ts'
import { messageOf } from './wording.ts'

const dayMs = 86_400_000

/** Ended entries that are kept, and for how long. */
const kept = { count: 10_000, days: 90 }

/** An event that went out on a channel. */
const sentRow = z.strictObject({
  event: z.string(),
  /** Of the event. */
  occurrence: z.string(),
  type: channelRow.shape.type,
  target: z.string().nullable(),
  /** The webhook that it went to; null for the log, and where the webhook was gone. */
  webhook: z.string().nullable(),
})
export type SentRow = z.infer<typeof sentRow>

/** A firing: from its breach to its resolution. */
export const historyRow = z.strictObject({
  id: z.string(),
  alert_id: z.string(),
  rule_name: z.string(),
  metric: z.enum(metricNames),
  metric_value: z.number().nullable(),
  threshold: z.number(),
  condition: z.enum(conditions),
  severity: z.enum(severities),
  group_by: z.enum(groupings),
  group: z.string().nullable(),
  state_from: z.enum(states),
  state_to: z.enum(states),
  message: z.string(),
  fired_at: z.string(),
  resolved_at: z.string().nullable(),
  /** The state after it. */
  resolved_to: z.enum(states).nullable(),
  resolved_value: z.number().nullable(),
  acknowledged: z.strictObject({ at: z.string(), by: z.string(), note: z.string().nullable() }).nullable(),
  /** As the rule had them when it fired: its end goes to those that know of its beginning. */
  channels: z.array(channelRow),
  sent: z.array(sentRow),
})
export type HistoryRow = z.infer<typeof historyRow>

/** The entry of a firing that begins. */
export function newHistoryRow(id: string, { rule, group, value, state }: Fire, now: number): HistoryRow {
  const shown = group === wholeGroup ? null : group
  return {
    id,
    alert_id: rule.id,
    rule_name: rule.name,
    metric: rule.metric,
    metric_value: value ?? null,
    threshold: rule.threshold,
    condition: rule.condition,
    severity: rule.severity,
    group_by: rule.group_by,
    group: shown,
    state_from: state,
    state_to: 'firing',
    message: messageOf(rule, shown, value),
    fired_at: new Date(now).toISOString(),
    resolved_at: null,
    resolved_to: null,
    resolved_value: null,
    acknowledged: null,
    channels: rule.channels,
    sent: [],
  }
}

const standOf = ({ resolved_at }: HistoryRow): 'firing' | 'resolved' =>
  resolved_at === null ? 'firing' : 'resolved'

/** What has fired, newest first by its ids. */
export class History {
  readonly rows: Collection<HistoryRow>

  constructor(store: Store) {
    this.rows = store.collection('history', {
      schema: historyRow,
      indexes: {
        alert: ({ alert_id }) => alert_id,
        severity: ({ severity }) => severity,
        state: standOf,
        alertState: (row) => [[row.alert_id, standOf(row)]],
        user: ({ group_by, group }) => (group_by === 'user' ? (group ?? undefined) : undefined),
      },
    })
  }

  /** A page, newest first, of what both hold for. */
  list(alert: string | undefined, state: string | undefined, page: PageOptions): Promise<Page<HistoryRow>> {
    const of =
      alert === undefined
        ? state !== undefined && { index: 'state', equals: state }
        : state === undefined
          ? { index: 'alert', equals: alert }
          : { index: 'alertState', equals: [alert, state] }
    return this.rows.list({ ...of, ...page, reverse: true })
  }

  /** The last firing of a rule. */
  async newest(alert: string): Promise<HistoryRow | undefined> {
    const { items } = await this.rows.list({ index: 'alert', equals: alert, reverse: true, limit: 1 })
    return items[0]
  }

  /** Notes what went out for an entry; the same event on the same channel once. */
  async note(id: string, sent: readonly SentRow[]): Promise<void> {
    await this.rows.update(id, (row) => {
      if (!row) return undefined
      const events = new Set(sent.map(({ occurrence }) => occurrence))
      return { ...row, sent: [...row.sent.filter(({ occurrence }) => !events.has(occurrence)), ...sent] }
    })
  }

  /** Forgets entries that have ended and are old, or of which there are many newer ones. */
  async prune(now: number): Promise<void> {
    const oldest = new Date(now - kept.days * dayMs).toISOString()
    let ended = 0
    for await (const [id, row] of this.rows.scan({ reverse: true })) {
      if (row.resolved_at === null) continue
      ended += 1
      if (ended > kept.count || row.resolved_at < oldest) await this.rows.delete(id)
    }
  }
}
