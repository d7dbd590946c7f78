import type { RecordedRequest } from '../record.ts'
import type { Wire } from '../wire.ts'
import { failure } from './failure.ts'
import { respondToCount, respondToMessage, respondToModels } from './message.ts'
import { bodyRefusal, unauthorized } from './refusal.ts'
import { countBody, messagesBody } from './schema.ts'

export { signatureOf } from './turn.ts'

const endpoints = {
  '/v1/messages': { body: messagesBody, respond: respondToMessage },
  '/v1/messages/count_tokens': { body: countBody, respond: respondToCount },
} as const

/** The dialect of Anthropic: messages, token counts and models. */
export const anthropic: Wire = {
  name: 'anthropic',
  basePath: '',

  serves: (request) => endpointOf(request) !== undefined || isModels(request),

  refuse(request, rules) {
    const endpoint = endpointOf(request)
    if (!endpoint && !isModels(request)) return failure(request, 404)
    const denied = unauthorized(request, rules)
    if (denied) return denied
    if (request.method !== (endpoint ? 'POST' : 'GET')) return failure(request, 405)
    return endpoint && bodyRefusal(request, rules, endpoint.body)
  },

  respond(request, script, rules) {
    const endpoint = endpointOf(request)
    if (endpoint) return endpoint.respond(request, script)
    return respondToModels(request, rules.models ?? ['claude-sonnet-4-5', 'claude-haiku-4-5'])
  },

  fail: (request, script, status) => failure(request, status, script.error),
}

const endpointOf = ({ path }: RecordedRequest) =>
  Object.entries(endpoints).find(([name]) => name === path)?.[1]

/** The OpenAI dialect has a path of that name too; only this one is asked with a version. */
const isModels = ({ path, headers }: RecordedRequest): boolean =>
  path === '/v1/models' && headers['anthropic-version'] !== undefined
