import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { respondToChat } from './chat.ts'
import { respondToCompletion } from './completion.ts'
import { respondToEmbedding } from './embedding.ts'
import { failure } from './failure.ts'
import { listModels, retrieveModel } from './models.ts'
import { respondToModeration } from './moderation.ts'
import { bodyRefusal, unauthorized, unknownModel } from './refusal.ts'
import { chatBody, completionBody, embeddingBody, moderationBody } from './schema.ts'

const BASE_PATH = '/v1'

const ENDPOINTS = {
  '/chat/completions': { body: chatBody, respond: respondToChat },
  '/completions': { body: completionBody, respond: respondToCompletion },
  '/embeddings': { body: embeddingBody, respond: respondToEmbedding },
  '/moderations': { body: moderationBody, respond: respondToModeration },
} as const

/** The OpenAI dialect: chat completions, completions, embeddings, moderations and models. */
export const openai: Wire = {
  name: 'openai',
  basePath: BASE_PATH,

  serves(request) {
    return endpointOf(request) !== undefined || isModels(request)
  },

  refuse(request, rules) {
    const endpoint = endpointOf(request)
    if (!endpoint && !isModels(request)) {
      const message = `Invalid URL (${request.method} ${request.path})`
      return failure(request, 404, { message, type: 'invalid_request_error', code: null })
    }
    const denied = unauthorized(request, rules)
    if (denied) return denied
    if (request.method !== (endpoint ? 'POST' : 'GET')) return wrongMethod(request)
    if (!endpoint) return undefined
    return bodyRefusal(request, rules, endpoint.body) ?? unknownModel(request, rules)
  },

  respond(request, script, rules) {
    const endpoint = endpointOf(request)
    if (endpoint) return endpoint.respond(request, script)
    return models(request, rules)
  },

  fail(request: RecordedRequest, script: Script, status: number): Answer {
    return failure(request, status, script.error)
  },
}

function endpointOf(request: RecordedRequest) {
  const path = request.path.startsWith(BASE_PATH) ? request.path.slice(BASE_PATH.length) : request.path
  return Object.entries(ENDPOINTS).find(([name]) => name === path)?.[1]
}

function isModels(request: RecordedRequest): boolean {
  return request.path === `${BASE_PATH}/models` || request.path.startsWith(`${BASE_PATH}/models/`)
}

function models(request: RecordedRequest, rules: Rules): Answer {
  const id = request.path.slice(`${BASE_PATH}/models/`.length)
  return id === '' ? listModels(request, rules) : retrieveModel(request, decodeURIComponent(id), rules)
}

function wrongMethod(request: RecordedRequest): Answer {
  return failure(request, 405, {
    message: `Not allowed to ${request.method} on ${request.path}. (HINT: Perhaps you meant to use a different HTTP method?)`,
    type: 'invalid_request_error',
    code: 'method_not_supported',
  })
}
