import type { Deliveries } from './deliveries.ts'
import type { Webhooks } from './webhooks.ts'

/** Ended deliveries that are kept of each webhook, and for how long. */
const kept = { count: 1000, days: 7 }
const dayMs = 86_400_000

/**
 * Forgets ended deliveries that are old, or of which there are many newer ones, webhooks of plugins that have none left, and
 * deliveries whose webhook has gone.
 */
export async function prune(webhooks: Webhooks, { rows }: Deliveries, now = Date.now()): Promise<void> {
  const oldest = new Date(now - kept.days * dayMs).toISOString()
  let left = await rows.count()
  for await (const [webhook, { owner, updated_at: used }] of webhooks.rows.scan()) {
    let ended = 0
    for await (const [id, row] of rows.scan({ index: 'webhook', equals: webhook, reverse: true })) {
      left -= 1
      if (row.status === 'pending') continue
      ended += 1
      if (ended > kept.count || row.created_at < oldest) await rows.delete(id)
    }
    const isUnused = owner !== undefined && ended === 0 && used < oldest
    if (isUnused && (await rows.count({ index: 'webhook', equals: webhook })) === 0)
      await webhooks.rows.delete(webhook)
  }
  if (left > 0)
    for await (const [id, { webhook }] of rows.scan())
      if ((await webhooks.rows.get(webhook)) === undefined) await rows.delete(id)
}
