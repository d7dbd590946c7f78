import { z } from 'zod'
import type { EventShape } from '#kernel'

const usage = z.looseObject({ input_tokens: z.int(), output_tokens: z.int() })

/** A message that answers. */
export const message = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  usage,
})

/** The wire's own envelope of errors. */
export const errorBody = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string(), message: z.string() }),
  request_id: z.string(),
})

const index = z.int()
const bodies: Readonly<Record<string, z.ZodRawShape>> = {
  message_start: { message: z.looseObject({ id: z.string(), type: z.literal('message') }) },
  content_block_start: { index, content_block: z.looseObject({ type: z.string() }) },
  content_block_delta: { index, delta: z.looseObject({ type: z.string() }) },
  content_block_stop: { index },
  message_delta: { delta: z.looseObject({ stop_reason: z.string().nullish() }) },
  message_stop: {},
  ping: {},
  error: { error: errorBody.shape.error },
}

/** The events of a streamed message. */
export const messageEvents: readonly EventShape[] = Object.entries(bodies).map(([event, shape]) => ({
  event,
  data: z.looseObject({ type: z.literal(event), ...shape }),
}))
