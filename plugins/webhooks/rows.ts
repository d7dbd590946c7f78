import { z } from 'zod'
import { formats } from './formats.ts'

/** Who gets which events. Secrets are encrypted. */
export const webhookRow = z.object({
  id: z.string(),
  name: z.string(),
  /** The plugin that it sends for; admins made all others. */
  owner: z.string().optional(),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  status: z.enum(['active', 'failing', 'disabled']),
  /** Its receiver said that it is gone, which switched it off; an admin has it on. */
  gone: z.boolean().optional(),
  format: z.enum(formats),
  /** JSON of the headers, encrypted. */
  headers: z.string().optional(),
  header_names: z.array(z.string()),
  /** PagerDuty's integration key, encrypted. */
  routing_key: z.string().optional(),
  /** Values that fields of the event's data must have. */
  filter: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))),
  secret: z.string(),
  /** Nobody was shown the secret, as a document made the webhook. */
  unseen: z.boolean().optional(),
  /** The secret before it, which signs too until then. */
  former: z.object({ secret: z.string(), until: z.string() }).optional(),
  /** Deliveries that used up their attempts since the last success. */
  consecutive_failures: z.int(),
  last_delivery_at: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type WebhookRow = z.infer<typeof webhookRow>

export const deliveryStatuses = ['pending', 'success', 'failed', 'dropped'] as const

/** A message to one receiver, with what came of its last attempt. */
export const deliveryRow = z.object({
  id: z.string(),
  webhook: z.string(),
  event: z.string(),
  /** What is sent, the same each time, encrypted; PagerDuty's integration key is added to it. In the clear in older rows. */
  body: z.string(),
  /** Of the body in the clear, in hexadecimal; older rows lack it. */
  sha256: z.string().optional(),
  status: z.enum(deliveryStatuses),
  attempts: z.int(),
  response_status: z.int().optional(),
  latency_ms: z.number().optional(),
  error: z.string().optional(),
  /** The job that tries it again; absent until its first attempt has failed. */
  job: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type DeliveryRow = z.infer<typeof deliveryRow>

/** Whether a delivery waits for its first attempt. */
export const isUntried = (row: DeliveryRow | undefined): row is DeliveryRow =>
  row?.status === 'pending' && row.job === undefined
