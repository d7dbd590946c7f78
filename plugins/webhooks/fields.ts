import { z } from 'zod'
import { badRequest } from '#kernel'
import { webAddress } from '#kit'
import { formats } from './formats.ts'

/** Names of headers that are the gateway's own, and those that are about a connection. */
const reserved =
  /^(webhook-|x-webhook-signature$|content-|host$|expect$|connection$|proxy-connection$|keep-alive$|upgrade$|te$|trailer$|transfer-encoding$)/i

export const fields = {
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

/** A webhook as an admin says it, wholly. */
export const wholeInput = z.strictObject({
  ...fields,
  enabled: fields.enabled.default(true),
  format: fields.format.default('json'),
  headers: fields.headers.optional(),
  routing_key: fields.routing_key.optional(),
  filter: fields.filter.default({}),
})
export type WholeInput = z.output<typeof wholeInput>

/** A change of one: what is absent stays. */
export const changeInput = z.strictObject({
  name: fields.name.optional(),
  url: fields.url.optional(),
  events: fields.events.optional(),
  enabled: fields.enabled.optional(),
  format: fields.format.optional(),
  headers: fields.headers.nullable().optional(),
  routing_key: fields.routing_key.nullable().optional(),
  filter: fields.filter.nullable().optional(),
})
export type ChangeInput = z.output<typeof changeInput>

/** Throws a bad request for the format of PagerDuty without its key. */
export function demandKey(format: string, key: string | null | undefined): void {
  if (format === 'pagerduty' && key == null)
    throw badRequest('body routing_key: the format pagerduty needs an integration key.', {
      param: 'routing_key',
    })
}
