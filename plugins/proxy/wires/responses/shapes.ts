import { z } from 'zod'
import type { EventShape } from '#kernel'

/** A response, whole or stored. */
export const responseShape = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
})

/** The events of a streamed response; each is named by its type. */
export const responseEvents: readonly EventShape[] = [
  { data: z.looseObject({ type: z.string().regex(/^response\./), sequence_number: z.int() }) },
  {
    event: 'error',
    data: z.looseObject({
      type: z.literal('error'),
      sequence_number: z.int(),
      code: z.string(),
      message: z.string(),
    }),
  },
]
