import { z } from 'zod'
import { type Context, conflict } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { Deliveries } from '../deliveries.ts'
import { changeInput, demandKey, fields, wholeInput } from '../fields.ts'
import { formats } from '../formats.ts'
import type { WebhookRow } from '../rows.ts'
import type { Subscriptions } from '../subscriptions.ts'
import type { Webhooks } from '../webhooks.ts'

const time = z.string().meta({ format: 'date-time' })

const webhook = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string().nullable().meta({
    description: 'The plugin that sends to it; null for webhooks of admins, which subscribe to events.',
  }),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  status: z.enum(['active', 'failing', 'disabled']).meta({
    description: 'Failing: a delivery used up its attempts, and none has succeeded since.',
  }),
  format: z.enum(formats),
  headers: z.array(z.string()).meta({ description: 'Names of its headers.' }),
  filter: fields.filter,
  secret_shown: z.boolean().meta({
    description:
      'Whether anybody was shown its secret. Of a webhook that an import made nobody was: rotate it.',
  }),
  consecutive_failures: z.int(),
  last_delivery_at: time.nullable().meta({ description: 'Exact to the second.' }),
  created_at: time,
  updated_at: time,
})

const withSecret = webhook.extend({
  secret: z.string().meta({ description: 'Signs messages (Standard Webhooks); shown only once.' }),
})

const itemOf = (row: WebhookRow): z.infer<typeof webhook> => ({
  ...row,
  owner: row.owner ?? null,
  headers: row.header_names,
  secret_shown: !row.unseen,
  last_delivery_at: row.last_delivery_at ?? null,
})

export const params = z.strictObject({ id: z.string().max(100) })

interface WebhookParts {
  readonly webhooks: Webhooks
  readonly subscriptions: Subscriptions
  readonly deliveries: Deliveries
}

/** Webhooks, for admins: they get everybody's events. */
export function addWebhookRoutes(
  { route }: Context<unknown>,
  { webhooks, subscriptions, deliveries }: WebhookParts,
): void {
  route({
    method: 'get',
    path: '/api/webhooks',
    access: 'admin',
    summary: 'The webhooks',
    query: listQuery,
    returns: listOf('webhooks', webhook),
    async handle({ query }) {
      const page = await storedPage(query, (window) => webhooks.rows.list(window))
      return listed('webhooks', shown(page, itemOf), query)
    },
  })

  route({
    method: 'post',
    path: '/api/webhooks',
    access: 'admin',
    summary: 'Create a webhook; the answer shows its secret once',
    body: wholeInput,
    status: 201,
    returns: withSecret,
    throws: [409],
    async handle({ body, ...by }) {
      demandKey(body.format, body.routing_key)
      const { row, secret } = await subscriptions.create(body, by)
      return { ...itemOf(row), secret }
    },
  })

  route({
    method: 'get',
    path: '/api/webhooks/{id}',
    access: 'admin',
    summary: 'One webhook',
    params,
    returns: webhook,
    handle: async ({ params: { id } }) => itemOf(await webhooks.find(id)),
  })

  route({
    method: 'put',
    path: '/api/webhooks/{id}',
    access: 'admin',
    summary: 'Change a webhook; what is absent stays',
    params,
    body: changeInput,
    returns: webhook,
    throws: [409],
    async handle({ params: { id }, body, ...by }) {
      const before = await webhooks.find(id)
      const key = body.routing_key === undefined ? before.routing_key : body.routing_key
      demandKey(body.format ?? before.format, key)
      return itemOf(await subscriptions.change(id, body, by))
    },
  })

  route({
    method: 'delete',
    path: '/api/webhooks/{id}',
    access: 'admin',
    summary: 'Delete a webhook with its deliveries',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    async handle({ params: { id }, ...by }) {
      const { owner } = await webhooks.find(id)
      if (owner !== undefined)
        throw conflict(`This webhook is kept for ${owner}, and goes with its last delivery.`, { param: 'id' })
      await subscriptions.remove(id, by)
      await deliveries.erase(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'post',
    path: '/api/webhooks/{id}/enable',
    access: 'admin',
    summary: 'Switch a webhook on again, and forget its failures',
    params,
    returns: webhook,
    throws: [409],
    handle: async ({ params: { id }, ...by }) => itemOf(await subscriptions.enable(id, by)),
  })

  route({
    method: 'post',
    path: '/api/webhooks/{id}/rotate',
    access: 'admin',
    summary: 'Give a webhook a new secret; for a day, or as long as you say, the one before signs too',
    params,
    body: z.strictObject({
      grace_seconds: z.int().min(0).max(2_592_000).default(86_400).meta({
        description: 'How long the secret before signs too.',
      }),
    }),
    returns: withSecret,
    async handle({ params: { id }, body }) {
      const { row, secret } = await webhooks.rotate(id, body.grace_seconds)
      return { ...itemOf(row), secret }
    },
  })
}
