import { createHash } from 'node:crypto'
import type { WebhookReceiver, WebhookSender } from '#kernel'
import { type Deliveries, deliveryIdOf } from './deliveries.ts'
import type { WebhookRow } from './rows.ts'
import type { Webhooks } from './webhooks.ts'

/** Sends for other plugins, through webhooks like those of admins. */
export function senderOf(webhooks: Webhooks, deliveries: Deliveries): WebhookSender {
  return {
    has: async (id) => (await webhooks.rows.get(id)) !== undefined,

    async send({ id, type, timestamp, data }, owner, to) {
      const found: (WebhookRow | undefined)[] = []
      for (const one of to)
        found.push(
          typeof one === 'string' ? await webhooks.rows.get(one) : await ensured(webhooks, owner, one),
        )
      const message = { event: type.name, timestamp, data }
      const messages = found.flatMap((webhook) => (webhook ? [{ webhook, message }] : []))
      if (messages.length > 0) await deliveries.add(id, messages)
      return found.map((webhook) => webhook?.id)
    },

    async delivery(occurrence, webhook) {
      const row = await deliveries.rows.get(deliveryIdOf(occurrence, webhook))
      return row && { status: row.status, attempts: row.attempts, error: row.error }
    },
  }
}

/** The webhook of an address; the same for equal addresses of an owner. */
async function ensured(webhooks: Webhooks, owner: string, receiver: WebhookReceiver): Promise<WebhookRow> {
  const { url, format, routingKey } = receiver
  // A key has too many bits to be found by this.
  const named = JSON.stringify([owner, url, format, routingKey ?? null])
  const id = `wh_${createHash('sha256').update(named).digest('hex').slice(0, 26)}`
  const known = await webhooks.rows.get(id)
  if (known) return known
  const name = `${owner}: ${new URL(url).host}`
  return webhooks.keep({ id, owner, name, url, format, routing_key: routingKey })
}
