import { badRequest, type Call, type Target, type UpstreamHead, WholeReply } from '#kernel'
import { type Changes, embeddingList, jsonObject, protocolError } from '#provider'
import { familyOf, isSaid } from './embedding-models.ts'

/** How many texts a model takes at a time. */
export const mostTexts = ({ model }: Target): number => familyOf(model).most

/** The body of an InvokeModel request for embeddings. */
export function embeddingBody({ request }: Call, { model }: Target, changes: Changes): object {
  const family = familyOf(model)
  const known = new Set(['model', 'input', 'encoding_format', ...family.reads])
  for (const [field, value] of Object.entries(request)) {
    if (isSaid(value) && !known.has(field)) changes.add(`-${field}`)
  }
  const { input } = request
  const texts = (typeof input === 'string' ? [input] : (input ?? [])).map((text) => {
    if (typeof text === 'string') return text
    throw badRequest('input: Bedrock embeds texts, not tokens.', { param: 'input' })
  })
  return family.body({ texts, request })
}

type Vector = readonly number[]

interface Answer {
  /** Of Titan. */
  readonly embedding?: Vector
  readonly inputTextTokenCount?: number
  /** Of Cohere: by type, or a bare list where no type was asked for; and of Nova. */
  readonly embeddings?: { readonly float?: readonly Vector[] } | readonly (Vector | { embedding?: Vector })[]
  readonly inputTokenCount?: number
}

/** Embeddings as OpenAI gives them. The tokens read stand in the body, or in a header. */
export function embeddingAnswer(
  { headers }: UpstreamHead,
  body: Buffer,
  { request }: Call,
  target: Target,
): WholeReply {
  const answer = jsonObject(body, target) as Answer
  const vectors = vectorsIn(answer)
  const wanted = typeof request.input === 'string' ? 1 : request.input?.length
  if (vectors.length !== wanted) {
    throw protocolError(target, `gave ${vectors.length} embeddings for ${wanted} texts`, { retryable: true })
  }
  const counted = Number(headers['x-amzn-bedrock-input-token-count'] ?? Number.NaN)
  const tokens = answer.inputTextTokenCount ?? answer.inputTokenCount ?? counted
  const usage = Number.isNaN(tokens) ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  return WholeReply.of(embeddingList(target.model, vectors, request, usage))
}

function vectorsIn({ embedding, embeddings = [] }: Answer): readonly Vector[] {
  if (embedding) return [embedding]
  if (!Array.isArray(embeddings)) return (embeddings as { float?: readonly Vector[] }).float ?? []
  return (embeddings as readonly (Vector | { embedding?: Vector })[]).map((one) =>
    'embedding' in one ? (one.embedding ?? []) : (one as Vector),
  )
}
