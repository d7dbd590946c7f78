import { z } from 'zod'
import { embeddingAnswer } from './answers.ts'
import { openaiWire } from './openai.ts'

const tokens = z.array(z.int().min(0)).min(1)

const body = z.object({
  model: z.string().min(1).max(256),
  input: z.union([z.string().min(1), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)]),
  encoding_format: z.enum(['float', 'base64']).optional(),
  dimensions: z.int().min(1).optional(),
})

export const embeddingsWire = openaiWire({
  id: 'embeddings',
  path: '/v1/embeddings',
  operation: 'embedding',
  summary: 'Embeddings of one or more inputs',
  body,
  answer: embeddingAnswer,
})
