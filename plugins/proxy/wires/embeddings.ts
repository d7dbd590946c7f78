import { embeddingBody as body } from '#kit'
import { embeddingAnswer } from './answers.ts'
import { openaiWire } from './openai.ts'

export const embeddingsWire = openaiWire({
  id: 'embeddings',
  path: '/v1/embeddings',
  operation: 'embedding',
  summary: 'Embeddings of one or more inputs',
  body,
  answer: embeddingAnswer,
})
