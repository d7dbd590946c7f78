import type { z } from 'zod'
import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { conversationError } from './conversation.ts'
import { embed } from './embed.ts'
import { failure, headers } from './failure.ts'
import { generate } from './generate.ts'
import {
  batchEmbedBody,
  type CountBody,
  countBody,
  embedBody,
  type GenerateBody,
  generateBody,
} from './schema.ts'

const BASE_PATH = '/v1beta'
const listed = ['gemini-2.5-flash', 'gemini-3-pro-preview', 'gemini-embedding-001']

const bodies: Readonly<Record<string, z.ZodType>> = {
  generateContent: generateBody,
  streamGenerateContent: generateBody,
  embedContent: embedBody,
  batchEmbedContents: batchEmbedBody,
  countTokens: countBody,
}

/** The dialect of the Gemini API: content, embeddings and models. */
export const gemini: Wire = {
  name: 'gemini',
  basePath: BASE_PATH,

  serves: (request) => methodOf(request) !== undefined || isModels(request),

  refuse(request, rules) {
    const at = methodOf(request)
    if (!at && !isModels(request)) return failure(request, 404)
    return unauthorized(request, rules) ?? (at && bodyRefusal(request, at.model, at.method, rules))
  },

  respond(request, script, rules) {
    const at = methodOf(request)
    if (!at) return models(rules)
    if (at.method.endsWith('GenerateContent') || at.method === 'generateContent') {
      return generate(request, script, at.model, at.method === 'streamGenerateContent')
    }
    return at.method === 'countTokens' ? counted(request, script) : embed(request, script)
  },

  fail(request, script, status) {
    const wait = script.retryAfter
    const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${wait}s` }
    return failure(request, status, script.error, wait === undefined ? [] : [info])
  },
}

function methodOf({ path }: RecordedRequest): { model: string; method: string } | undefined {
  const [, model, method] = /^\/v1beta\/models\/([\w.-]+):(\w+)$/.exec(path) ?? []
  return model !== undefined && method !== undefined && method in bodies ? { model, method } : undefined
}

const isModels = ({ path }: RecordedRequest): boolean => path === `${BASE_PATH}/models`

/** A missing key is 403, a wrong one 400, as the service has it. */
function unauthorized(request: RecordedRequest, { keys }: Rules): Answer | undefined {
  const key = request.headers['x-goog-api-key']
  if (keys.length === 0 || keys.some((known) => known === key)) return undefined
  if (key === undefined) {
    const message =
      "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity."
    return failure(request, 403, { message })
  }
  const message = 'API key not valid. Please pass a valid API key.'
  return failure(request, 400, { message, code: 'API_KEY_INVALID' })
}

function bodyRefusal(
  request: RecordedRequest,
  model: string,
  method: string,
  rules: Rules,
): Answer | undefined {
  if (rules.models && !rules.models.includes(model)) return failure(request, 404)
  if (method === 'streamGenerateContent' && request.query.get('alt') !== 'sse') {
    return failure(request, 400, { message: 'this upstream streams events only' })
  }
  if (!rules.strict) return undefined
  const { error, data } = bodies[method]!.safeParse(request.body)
  if (error) {
    const [issue] = error.issues
    const message = `Invalid JSON payload received. ${issue?.path.join('.')}: ${issue?.message}`
    return failure(request, 400, { message })
  }
  const message = refusalOf(data, method, model)
  return message === undefined ? undefined : failure(request, 400, { message })
}

function refusalOf(data: unknown, method: string, model: string): string | undefined {
  if (method.endsWith('enerateContent')) return conversationError(data as GenerateBody, model)
  const inside = (data as CountBody).generateContentRequest
  if (!inside) return undefined
  const { model: named, ...body } = inside
  return named === `models/${model}`
    ? conversationError(body, model)
    : 'generateContentRequest.model is another'
}

/** Counts as what it generates would. */
function counted(request: RecordedRequest, script: Script): Answer {
  const totalTokens = countTokens(request.rawBody)
  const body = script.body ?? {
    totalTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }],
  }
  return {
    status: 200,
    headers: headers('application/json; charset=UTF-8'),
    stream: false,
    frames: [typeof body === 'string' ? body : JSON.stringify(body)],
  }
}

function models({ models: names = listed }: Rules): Answer {
  const body = { models: names.map((name) => ({ name: `models/${name}`, displayName: name })) }
  return {
    status: 200,
    headers: headers('application/json; charset=UTF-8'),
    stream: false,
    frames: [JSON.stringify(body)],
  }
}
