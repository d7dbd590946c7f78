import { z } from 'zod'

const block = z.looseObject({
  text: z.string().optional(),
  toolUse: z.looseObject({ toolUseId: z.string(), name: z.string() }).optional(),
  reasoningContent: z
    .looseObject({
      reasoningText: z
        .looseObject({ text: z.string().optional(), signature: z.string().optional() })
        .optional(),
      redactedContent: z.string().optional(),
    })
    .optional(),
  citationsContent: z
    .looseObject({
      content: z.array(z.looseObject({ text: z.string().optional() })).optional(),
      citations: z.array(z.unknown()).optional(),
    })
    .optional(),
})

/** The fields that a reader of answers relies on; usage is read with care. */
const answer = z.looseObject({
  output: z.looseObject({ message: z.looseObject({ content: z.array(block) }) }),
  stopReason: z.string().optional(),
  additionalModelResponseFields: z.looseObject({}).nullish(),
})

/** Whether an answer has the shape that its reader relies on. */
export const isSound = (data: unknown): boolean => answer.safeParse(data).success
