import { badRequest, type Call, type ModelRequest, type Target, WholeReply } from '#kernel'
import { type Changes, embeddingList, jsonObject, protocolError } from '#provider'
import { pathOf } from './model.ts'
import { embeddingParameters, predictionOf } from './prediction.ts'
import { quirksOf } from './quirks.ts'

const mostOfBatch = 100

const read = new Set(['model', 'input', 'encoding_format', 'dimensions', 'task_type', 'title'])

interface Embedding {
  readonly values?: readonly number[]
}

interface Prediction {
  readonly embeddings?: Embedding & { readonly statistics?: { readonly token_count?: number } }
}

interface Answer {
  readonly predictions?: readonly Prediction[]
  readonly embedding?: Embedding
  readonly embeddings?: readonly Embedding[]
  readonly usageMetadata?: { readonly promptTokenCount?: number }
}

/** How many texts a request may have. */
export const mostTexts = ({ model, provider }: Target): number =>
  quirksOf(provider).predicts ? predictionOf(model).most : mostOfBatch

/** The method and body of a request for embeddings: one text has a method of its own. */
export function embeddingBody(
  { request }: Call,
  { model, provider }: Target,
  changes: Changes,
): { readonly method: string; readonly body: object } {
  for (const [field, value] of Object.entries(request)) {
    if (value !== undefined && value !== null && !read.has(field)) changes.add(`-${field}`)
  }
  const { input } = request
  if (quirksOf(provider).predicts) {
    const { method, body } = predictionOf(model)
    return { method, body: body(textsIn(input), request) }
  }
  const one = (text: string) => ({ content: { parts: [{ text }] }, ...embeddingParameters(request) })
  if (typeof input === 'string') return { method: 'embedContent', body: one(input) }
  const requests = textsIn(input).map((text) => ({ model: pathOf(model), ...one(text) }))
  return { method: 'batchEmbedContents', body: { requests } }
}

const textsIn = (input: ModelRequest['input']): string[] =>
  (typeof input === 'string' ? [input] : (input ?? [])).map((text) => {
    if (typeof text === 'string') return text
    throw badRequest('input: Gemini embeds texts, not tokens.', { param: 'input' })
  })

/** Embeddings as OpenAI gives them; in base64 for clients that asked for that. */
export function embeddingAnswer(body: Buffer, { request }: Call, target: Target): WholeReply {
  const answer = jsonObject(body, target) as Answer
  const predicted = answer.predictions?.map(({ embeddings = {} }) => embeddings)
  const embeddings = predicted ?? answer.embeddings ?? (answer.embedding ? [answer.embedding] : [])
  const wanted = typeof request.input === 'string' ? 1 : request.input?.length
  if (embeddings.length !== wanted) {
    throw protocolError(target, `gave ${embeddings.length} embeddings for ${wanted} texts`, {
      retryable: true,
    })
  }
  const tokens = predicted
    ? predicted.reduce((sum, { statistics }) => sum + (statistics?.token_count ?? 0), 0)
    : answer.usageMetadata?.promptTokenCount
  const usage = tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  const vectors = embeddings.map(({ values = [] }) => values)
  return WholeReply.of(embeddingList(target.model, vectors, request, usage))
}
