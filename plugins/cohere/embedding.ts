import { badRequest, type Call, type Target, WholeReply } from '#kernel'
import { type Changes, embeddingList, jsonObject, protocolError } from '#provider'
import { canonicalUsage } from './usage.ts'
import type { Units } from './wire.ts'

const read = new Set(['model', 'input', 'encoding_format', 'dimensions', 'input_type', 'truncate'])
/** Texts of a request. */
export const mostTexts = 96

/** The body of a request for embeddings. The service requires their purpose: by default, documents to be found. */
export function embeddingBody({ request }: Call, { model }: Target, changes: Changes): object {
  for (const [field, value] of Object.entries(request)) {
    if (value !== undefined && value !== null && !read.has(field)) changes.add(`-${field}`)
  }
  const { input, dimensions, input_type = 'search_document', truncate } = request
  const texts = typeof input === 'string' ? [input] : (input ?? [])
  if (texts.some((text) => typeof text !== 'string')) {
    throw badRequest('input: Cohere embeds texts, not tokens.', { param: 'input' })
  }
  return {
    model,
    texts,
    input_type,
    embedding_types: ['float'],
    ...(dimensions !== undefined && dimensions !== null && { output_dimension: dimensions }),
    ...(truncate !== undefined && { truncate }),
  }
}

interface Answer {
  readonly embeddings?: { readonly float?: readonly (readonly number[])[] }
  readonly meta?: { readonly billed_units?: Units }
}

/** Embeddings as OpenAI gives them; in base64 for clients that asked for that. */
export function embeddingAnswer(body: Buffer, { request }: Call, target: Target): WholeReply {
  const { embeddings, meta } = jsonObject(body, target) as Answer
  const vectors = embeddings?.float ?? []
  const wanted = typeof request.input === 'string' ? 1 : request.input?.length
  if (vectors.length !== wanted) {
    throw protocolError(target, `gave ${vectors.length} embeddings for ${wanted} texts`, { retryable: true })
  }
  const usage = meta?.billed_units && canonicalUsage({ billed_units: meta.billed_units })
  return WholeReply.of(embeddingList(target.model, vectors, request, usage))
}
