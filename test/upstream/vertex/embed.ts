import { z } from 'zod'
import { headers } from '../gemini/failure.ts'
import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'

const predictBody = z.strictObject({
  instances: z
    .array(
      z.strictObject({
        content: z.string().min(1),
        task_type: z
          .string()
          .regex(/^[A-Z_]+$/)
          .optional(),
        title: z.string().optional(),
      }),
    )
    .min(1)
    .max(250),
  parameters: z
    .strictObject({ autoTruncate: z.boolean().optional(), outputDimensionality: z.int().min(1).optional() })
    .optional(),
})

const contentBody = z.strictObject({
  content: z.strictObject({ parts: z.array(z.strictObject({ text: z.string().min(1) })).min(1) }),
  embedContentConfig: z
    .strictObject({
      taskType: z.string().optional(),
      title: z.string().optional(),
      outputDimensionality: z.int().min(1).optional(),
      autoTruncate: z.boolean().optional(),
    })
    .optional(),
})

/** What is wrong with a request for embeddings: each model has its method. Undefined when nothing is. */
export function embeddingError(model: string, method: string, body: unknown): string | undefined {
  const isNewer = /gemini-embedding-(?!001)/.test(model)
  if (isNewer !== (method === 'embedContent')) return `${model} has no such method`
  if (isNewer) return contentBody.safeParse(body).error?.issues[0]?.message
  const { error, data } = predictBody.safeParse(body)
  if (error) return error.issues[0]?.message
  const isMany = model === 'gemini-embedding-001' && data.instances.length > 1
  return isMany ? 'The number of instances must be 1.' : undefined
}

/** POST …:predict. */
export function predicted(request: RecordedRequest, script: Script): Answer {
  const { instances, parameters } = predictBody.parse(request.body)
  const values = Array.from({ length: parameters?.outputDimensionality ?? 3 }, (_, i) => i / 8)
  const predictions = instances.map(({ content }) => ({
    embeddings: { values, statistics: { token_count: countTokens(content), truncated: false } },
  }))
  return plain(script.body ?? { predictions, metadata: { billableCharacterCount: 1 } })
}

/** POST …:embedContent, as the newer models have it. */
export function embedded(request: RecordedRequest, script: Script): Answer {
  const { content, embedContentConfig: config } = contentBody.parse(request.body)
  const text = content.parts.map((part) => part.text).join('')
  const values = Array.from({ length: config?.outputDimensionality ?? 3 }, (_, i) => i / 8)
  const usageMetadata = { promptTokenCount: countTokens(text) }
  return plain(script.body ?? { embedding: { values }, usageMetadata, truncated: false })
}

export const plain = (body: unknown): Answer => ({
  status: 200,
  headers: headers('application/json; charset=UTF-8'),
  stream: false,
  frames: [typeof body === 'string' ? body : JSON.stringify(body)],
})
