import { z } from 'zod'
import type { EventShape } from '#kernel'

/** An error as Google's APIs write it. */
export const errorBody = z.object({
  error: z.object({
    code: z.int(),
    message: z.string(),
    status: z.string(),
    details: z.array(z.looseObject({ '@type': z.string() })),
  }),
})

/** An answer, and each event of a streamed one. */
export const answer = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(z.looseObject({})).optional() }).optional(),
        finishReason: z.string().optional(),
      }),
    )
    .optional(),
  usageMetadata: z.looseObject({ promptTokenCount: z.int().optional() }).optional(),
  modelVersion: z.string().optional(),
  responseId: z.string().optional(),
})

export const answerEvents: readonly EventShape[] = [{ data: z.union([answer, errorBody]) }]

const vector = z.object({ values: z.array(z.number()) })
const usageMetadata = z.looseObject({ promptTokenCount: z.int() }).optional()

export const embedding = z.looseObject({ embedding: vector, usageMetadata })
export const embeddings = z.looseObject({ embeddings: z.array(vector), usageMetadata })
