/** An event as it goes out. */
export interface Message {
  readonly event: string
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly data: unknown
}

export const formats = ['json', 'slack', 'discord', 'pagerduty'] as const
export type Format = (typeof formats)[number]

/** Limits of the receivers, in characters. */
const most = { slackHeader: 150, slackSection: 2900, discordDescription: 4000, pagerSummary: 1024 }

const cut = (text: string, length: number): string =>
  (text.length > length ? `${text.slice(0, length - 1)}…` : text).toWellFormed()

const fieldsOf = (data: unknown): Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data)
    ? (data as Record<string, unknown>)
    : { value: data }

/** JSON of all but texts: a foreign object may have a `toString` that is none. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What an event is about in one line: its own words where it has some. */
function summaryOf({ event, data }: Message): string {
  const { title, message, reason } = fieldsOf(data)
  const words = [title, message, reason].filter((one) => typeof one === 'string')
  return words.length > 0 ? `${event}: ${words.join(' – ')}` : event
}

/** The facts of an event as lines. */
const linesOf = ({ data }: Message): string =>
  Object.entries(fieldsOf(data))
    .map(([name, value]) => `${name}: ${asText(value)}`)
    .join('\n')

const severities = ['critical', 'error', 'warning', 'info'] as const
type Severity = (typeof severities)[number]

/** As PagerDuty knows it: the event's own, else by its name. */
function severityOf({ event, data }: Message): Severity {
  const own = fieldsOf(data).severity
  const named = severities.find((severity) => severity === own)
  if (named) return named
  if (own === 'high') return 'error'
  if (/error|violation|exceeded|tripped|quarantined|circuit/.test(event)) return 'error'
  return /test|restored|closed|changed/.test(event) ? 'info' : 'warning'
}

/** Slack's three characters of control. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const slack = (message: Message): object => ({
  text: escaped(cut(summaryOf(message), most.slackSection)),
  blocks: [
    {
      type: 'header',
      text: { type: 'plain_text', text: cut(message.event, most.slackHeader), emoji: false },
    },
    {
      type: 'section',
      text: { type: 'plain_text', text: cut(linesOf(message) || '–', most.slackSection), emoji: false },
    },
    { type: 'context', elements: [{ type: 'plain_text', text: message.timestamp, emoji: false }] },
  ],
})

const colors: Readonly<Record<Severity, number>> = {
  critical: 0xb0_00_20,
  error: 0xd3_2f_2f,
  warning: 0xf9_a8_25,
  info: 0x19_76_d2,
}

const discord = (message: Message): object => ({
  embeds: [
    {
      title: cut(message.event, 256),
      description: cut(linesOf(message), most.discordDescription),
      timestamp: message.timestamp,
      color: colors[severityOf(message)],
    },
  ],
  // Nothing that an event says calls anybody.
  allowed_mentions: { parse: [] },
})

/** Events of PagerDuty's Events API v2. What ends an alert resolves its incident. */
function pagerduty(message: Message): object {
  const { alert_id, group, state } = fieldsOf(message.data)
  const subject = typeof alert_id === 'string' ? `${alert_id}:${asText(group ?? '')}` : undefined
  const isOver = subject !== undefined && (state === 'ok' || state === 'no_data')
  return {
    event_action: isOver ? 'resolve' : 'trigger',
    ...(subject !== undefined && { dedup_key: subject.slice(0, 255) }),
    payload: {
      summary: cut(summaryOf(message), most.pagerSummary),
      source: 'switchyard',
      severity: severityOf(message),
      timestamp: message.timestamp,
      component: 'gateway',
      class: message.event,
      custom_details: fieldsOf(message.data),
    },
  }
}

/** The body of a message for a receiver; PagerDuty's without the integration key. */
export function bodyOf(message: Message, format: Format): string {
  const { event, timestamp, data } = message
  if (format === 'slack') return JSON.stringify(slack(message))
  if (format === 'discord') return JSON.stringify(discord(message))
  if (format === 'pagerduty') return JSON.stringify(pagerduty(message))
  return JSON.stringify({ event, timestamp, data })
}

/** A body for PagerDuty with the integration key, as it is sent. It is not stored like this, because keys are stored encrypted. */
export const withRoutingKey = (body: string, key: string): string =>
  JSON.stringify({ ...JSON.parse(body), routing_key: key })
