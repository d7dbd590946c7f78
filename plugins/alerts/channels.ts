import { type Context, kernelServices, type Occurrence, type WebhookReceiver, WebhookSender } from '#kernel'
import type { Told } from './events.ts'
import type { History, SentRow } from './history.ts'
import type { ChannelRow } from './rule-fields.ts'

const owner = 'alerts'

type Parts = Pick<Context<unknown>, 'log' | 'find' | 'use'>

/**
 * Sends an event of a firing on the channels that its rule had when it fired. The sending itself is that of webhooks; a webhook
 * that also subscribed to the event gets it once.
 */
export async function sendOn(
  { log, find, use }: Parts,
  history: History,
  told: Told,
  occurrence: Occurrence,
): Promise<void> {
  const row = await history.rows.get(told.history_id)
  if (!row || row.channels.length === 0) return
  const sent: SentRow[] = []
  for (const channel of row.channels) {
    const { type, target } = channel
    if (type === 'log') logTold(log, told)
    const to = receiverOf(channel, (key) => use(kernelServices.secrets).decrypt(key))
    const [webhook] = (to && (await find(WebhookSender)?.send(occurrence, owner, [to]))) ?? []
    const about = { event: occurrence.type.name, occurrence: occurrence.id }
    sent.push({ ...about, type, target, webhook: webhook ?? null })
  }
  await history.note(row.id, sent)
}

function receiverOf(
  { type, target, url, key }: ChannelRow,
  decrypt: (key: string) => string,
): string | WebhookReceiver | undefined {
  if (url === null) return type === 'webhook' ? (target ?? undefined) : undefined
  const format = type === 'slack' || type === 'discord' || type === 'pagerduty' ? type : 'json'
  return { url, format, ...(key !== undefined && { routingKey: decrypt(key) }) }
}

function logTold(log: Parts['log'], { message, state, ...told }: Told): void {
  const { alert_id: alert, rule_name: rule, metric_value: value, severity, history_id: history } = told
  const line = { alert, rule, value, severity, history, state }
  if (state === 'firing') log.warn(line, `an alert fires: ${message}`)
  else log.info(line, `an alert is over: ${message}`)
}
