import { z } from 'zod'
import { badRequest, type Context, conflict, kernelServices } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage, webAddress } from '#kit'
import type { Deliveries } from '../deliveries.ts'
import { formats } from '../formats.ts'
import { demandNames } from '../names.ts'
import type { WebhookRow } from '../rows.ts'
import type { Webhooks } from '../webhooks.ts'

const time = z.string().meta({ format: 'date-time' })

/** Names of headers that are the gateway's own, and those that are about a connection. */
const reserved =
  /^(webhook-|x-webhook-signature$|content-|host$|expect$|connection$|proxy-connection$|keep-alive$|upgrade$|te$|trailer$|transfer-encoding$)/i

const fields = {
  name: z.string().trim().min(1).max(200),
  url: webAddress,
  events: z.array(z.string().min(1).max(100)).min(1).max(100).meta({
    description:
      'Names of events, globs, or * for all. An event that has two names goes out under the one given.',
  }),
  enabled: z.boolean(),
  format: z.enum(formats),
  headers: z
    .record(
      z.string().regex(/^[\w-]{1,100}$/),
      z
        .string()
        .max(2000)
        .regex(/^[\t\x20-\x7e]*$/),
    )
    .refine((headers) => Object.keys(headers).length <= 20, 'at most 20 headers')
    .refine(
      (headers) => !Object.keys(headers).some((name) => reserved.test(name)),
      'a header is the gateway’s own',
    )
    .refine(
      (headers) =>
        new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
      'a header is there twice, as letter case does not matter',
    )
    .meta({ description: 'Headers of each message, kept encrypted; answers show their names only.' }),
  routing_key: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Integration key of PagerDuty, kept encrypted.' }),
  filter: z
    .record(z.string().max(100), z.array(z.union([z.string().max(500), z.number(), z.boolean()])).max(100))
    .meta({ description: 'Values that fields of the data must have, by the name of the field.' }),
}

const creation = z.strictObject({
  ...fields,
  enabled: fields.enabled.default(true),
  format: fields.format.default('json'),
  headers: fields.headers.default({}),
  routing_key: fields.routing_key.optional(),
  filter: fields.filter.default({}),
})

const change = z.strictObject({
  name: fields.name.optional(),
  url: fields.url.optional(),
  events: fields.events.optional(),
  enabled: fields.enabled.optional(),
  format: fields.format.optional(),
  headers: fields.headers.nullable().optional(),
  routing_key: fields.routing_key.nullable().optional(),
  filter: fields.filter.nullable().optional(),
})

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
  last_delivery_at: row.last_delivery_at ?? null,
})

export const params = z.strictObject({ id: z.string().max(100) })

/** Webhooks, for admins: they get everybody's events. */
export function addWebhookRoutes(
  { route, use }: Context<unknown>,
  webhooks: Webhooks,
  deliveries: Deliveries,
): void {
  const declared = () =>
    use(kernelServices.events)
      .list()
      .map(({ type }) => type)

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
    body: creation,
    status: 201,
    returns: withSecret,
    async handle({ body }) {
      demandNames(body.events, declared())
      demandKey(body.format, body.routing_key)
      const { row, secret } = await webhooks.create({ ...body, routing_key: body.routing_key })
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
    body: change,
    returns: webhook,
    async handle({ params: { id }, body }) {
      if (body.events) demandNames(body.events, declared())
      const before = await webhooks.find(id)
      const key = body.routing_key === undefined ? before.routing_key : body.routing_key
      demandKey(body.format ?? before.format, key)
      const { headers, filter, ...rest } = body
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
      return itemOf(
        await webhooks.change(id, {
          ...given,
          ...(headers !== undefined && { headers: headers ?? {} }),
          ...(filter !== undefined && { filter: filter ?? {} }),
        }),
      )
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
    async handle({ params: { id } }) {
      const { owner } = await webhooks.find(id)
      if (owner !== undefined)
        throw conflict(`This webhook is kept for ${owner}, and goes with its last delivery.`, { param: 'id' })
      await webhooks.rows.delete(id)
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
    handle: async ({ params: { id } }) => itemOf(await webhooks.enable(id)),
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

function demandKey(format: string, key: string | null | undefined): void {
  if (format === 'pagerduty' && key == null)
    throw badRequest('body routing_key: the format pagerduty needs an integration key.', {
      param: 'routing_key',
    })
}
