import { z } from 'zod'
import { type Context, newId } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { Deliveries } from '../deliveries.ts'
import type { Dispatch } from '../dispatch.ts'
import { type DeliveryRow, deliveryStatuses } from '../rows.ts'
import { sha256Of } from '../signing.ts'
import { statsOf } from '../stats.ts'
import { WebhookTest } from '../test-event.ts'
import type { Webhooks } from '../webhooks.ts'
import { params } from './webhooks.ts'

const time = z.string().meta({ format: 'date-time' })

const delivery = z.object({
  id: z.string().meta({ description: 'Also the header webhook-id, in all attempts.' }),
  event: z.string(),
  status: z.enum(deliveryStatuses).meta({
    description: 'Dropped: too many were waiting, or the webhook was switched off.',
  }),
  attempt: z.int().meta({ description: 'Attempts that were made.' }),
  retries: z.int(),
  response_status: z.int().nullable(),
  latency_ms: z.number().nullable(),
  error: z.string().nullable(),
  request_body_sha256: z.string().meta({ description: 'For PagerDuty, of the body without its key.' }),
  next_retry_at: time.nullable(),
  created_at: time,
  updated_at: time,
})

const deliveryOf = (row: DeliveryRow, next?: number): z.infer<typeof delivery> => ({
  id: row.id,
  event: row.event,
  status: row.status,
  attempt: row.attempts,
  retries: Math.max(0, row.attempts - 1),
  response_status: row.response_status ?? null,
  latency_ms: row.latency_ms ?? null,
  error: row.error ?? null,
  request_body_sha256: row.sha256 ?? sha256Of(row.body),
  next_retry_at: next === undefined ? null : new Date(next).toISOString(),
  created_at: row.created_at,
  updated_at: row.updated_at,
})

const sums = z.object({ total: z.int(), succeeded: z.int(), failed: z.int(), dropped: z.int() })

const stats = sums.extend({
  success_rate: z.number().nullable().meta({ description: 'Of those that ended, 0 to 1; null without any.' }),
  average_latency_ms: z.number().nullable(),
  p95_latency_ms: z.number().nullable(),
  last_24h: sums,
  by_event: z.record(z.string(), sums),
})

/** What was sent, what came of it, and tests. */
export function addDeliveryRoutes(
  { route, emit }: Context<unknown>,
  webhooks: Webhooks,
  deliveries: Deliveries,
  dispatch: Dispatch,
): void {
  route({
    method: 'get',
    path: '/api/webhooks/{id}/deliveries',
    access: 'admin',
    summary: 'The deliveries of a webhook, newest first: the last thousand, for seven days',
    params,
    query: listQuery,
    returns: listOf('deliveries', delivery),
    async handle({ params: { id }, query }) {
      await webhooks.find(id)
      const page = await storedPage(query, (window) => deliveries.list(id, window))
      const next = new Map<string, number | undefined>()
      for (const row of page.items) next.set(row.id, await dispatch.nextTry(row))
      return listed(
        'deliveries',
        shown(page, (row) => deliveryOf(row, next.get(row.id))),
        query,
      )
    },
  })

  route({
    method: 'post',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    access: 'admin',
    summary: 'Send a delivery that ended once more, with its id and its body',
    params: params.extend({ deliveryId: z.string().max(100) }),
    status: 202,
    returns: delivery,
    throws: [409],
    handle: async ({ params: { id, deliveryId } }) => deliveryOf(await deliveries.again(id, deliveryId)),
  })

  route({
    method: 'get',
    path: '/api/webhooks/{id}/stats',
    access: 'admin',
    summary: 'How the kept deliveries of a webhook went',
    params,
    returns: stats,
    async handle({ params: { id } }) {
      await webhooks.find(id)
      return statsOf(deliveries.rows.scan({ index: 'webhook', equals: id }))
    },
  })

  route({
    method: 'post',
    path: '/api/webhooks/test',
    access: 'admin',
    summary: 'Send the event webhook.test to one webhook, or emit it for all that subscribed',
    body: z.strictObject({
      webhook_id: z.string().max(100).optional().meta({ description: 'All subscribers without it.' }),
    }),
    status: 202,
    returns: z.object({ event: z.literal('webhook.test'), deliveries: z.array(z.string()) }),
    throws: [404],
    async handle(input) {
      const { webhook_id: id } = input.body
      const data = { message: 'This is a test.', webhook_id: id ?? null }
      if (id === undefined) {
        emit(WebhookTest, data, { cause: input })
        return { event: 'webhook.test' as const, deliveries: [] }
      }
      const webhook = await webhooks.find(id)
      const message = { event: WebhookTest.name, timestamp: new Date().toISOString(), data }
      return {
        event: 'webhook.test' as const,
        deliveries: await deliveries.add(newId('evt_'), [{ webhook, message }]),
      }
    },
  })
}
