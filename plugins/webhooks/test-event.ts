import { z } from 'zod'
import { defineEvent } from '#kernel'

export const WebhookTest = defineEvent(
  'webhook.test',
  z.object({
    message: z.string(),
    webhook_id: z.string().nullable().meta({ description: 'The one webhook that is tried; null for all.' }),
  }),
  { description: 'An admin tries webhooks.' },
)
