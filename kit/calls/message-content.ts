import { z } from 'zod'

/** What a message of a client of an area says: a text, or texts and images. */
export const messageContent = z.union([
  z.string().min(1),
  z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text'), text: z.string() }),
        z.strictObject({
          type: z.literal('image_url'),
          image_url: z.strictObject({
            url: z.string().min(1),
            detail: z.enum(['auto', 'low', 'high']).optional(),
          }),
        }),
      ]),
    )
    .min(1)
    .max(100),
])
export type MessageContent = z.infer<typeof messageContent>
