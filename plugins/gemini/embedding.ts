import { badRequest, type Call, type ModelRequest, type Target, WholeReply } from '#kernel'
import { type Changes, embeddingList, jsonObject, protocolError } from '#kit'
import { pathOf } from './model.ts'
import { quirksOf } from './quirks.ts'

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

/** The method and body of a request for embeddings: one text has a method of its own. */
export function embeddingBody(
  { request }: Call,
  { model, provider }: Target,
  changes: Changes,
): { readonly method: string; readonly body: object } {
  for (const [field, value] of Object.entries(request)) {
    if (value !== undefined && value !== null && !read.has(field)) changes.add(`-${field}`)
  }
  const { input, dimensions, task_type, title } = request
  if (quirksOf(provider).predicts) return { method: 'predict', body: predictionBody(request) }
  const parameters = {
    ...(dimensions !== undefined && dimensions !== null && { outputDimensionality: dimensions }),
    ...(task_type !== undefined && { taskType: task_type }),
    ...(title !== undefined && { title }),
  }
  const one = (text: string) => ({ content: { parts: [{ text }] }, ...parameters })
  if (typeof input === 'string') return { method: 'embedContent', body: one(input) }
  const requests = textsIn(input).map((text) => ({ model: pathOf(model), ...one(text) }))
  return { method: 'batchEmbedContents', body: { requests } }
}

/** The same as the service that gives predictions has it. */
function predictionBody({ input, dimensions, task_type, title }: ModelRequest): object {
  const instances = textsIn(input).map((content) => ({
    content,
    ...(task_type !== undefined && { task_type }),
    ...(title !== undefined && { title }),
  }))
  const isSized = dimensions !== undefined && dimensions !== null
  return { instances, ...(isSized && { parameters: { outputDimensionality: dimensions } }) }
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
