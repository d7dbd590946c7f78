import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { conversationError } from './conversation.ts'
import { converse } from './converse.ts'
import { count, countRefusal } from './count.ts'
import { failure, serviceHeaders } from './failure.ts'
import { invoke, invokeError } from './invoke.ts'
import { converseBody } from './schema.ts'
import { signatureError } from './signature.ts'

export { signatureOf } from './conversation.ts'
export { eventFrame, exceptionFrame, frame } from './frames.ts'

const listed = ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon.nova-pro-v1:0']

/** The dialect of Amazon Bedrock: Converse, streamed or not, InvokeModel for embeddings, and the list of models. */
export const bedrock: Wire = {
  name: 'bedrock',
  basePath: '',

  serves: (request) => endpointOf(request) !== undefined || isModels(request),

  refuse(request, rules) {
    const endpoint = endpointOf(request)
    if (!endpoint && !isModels(request)) return failure(request, 404, { type: 'UnknownOperationException' })
    return unauthorized(request, rules) ?? (endpoint && refusal(request, endpoint, rules))
  },

  respond(request, script, rules) {
    const endpoint = endpointOf(request)
    if (!endpoint) return models(request, rules)
    const { model, method } = endpoint
    if (method === 'invoke') return invoke(request, model, script)
    return method === 'count-tokens'
      ? count(request, script)
      : converse(request, script, method === 'converse-stream')
  },

  fail: (request, script, status) => failure(request, status, script.error),
}

function endpointOf({ path }: RecordedRequest): { model: string; method: string } | undefined {
  const [, model, method] =
    /^\/model\/([^/]+)\/(converse|converse-stream|invoke|count-tokens)$/.exec(path) ?? []
  if (model === undefined || method === undefined) return undefined
  return { model: decodeURIComponent(model), method }
}

const isModels = ({ method, path }: RecordedRequest): boolean =>
  method === 'GET' && path === '/foundation-models'

/** 403 for a bearer token that is not let in, and for a signature that is not what the service makes of the request. */
function unauthorized(request: RecordedRequest, { keys }: Rules): Answer | undefined {
  if (keys.length === 0) return undefined
  if (request.key !== undefined) {
    return keys.includes(request.key)
      ? undefined
      : failure(request, 403, { type: 'UnrecognizedClientException' })
  }
  const type = signatureError(request, keys)
  return type === undefined ? undefined : failure(request, 403, { type })
}

function refusal(
  request: RecordedRequest,
  { model, method }: { model: string; method: string },
  rules: Rules,
): Answer | undefined {
  if (rules.models && !rules.models.includes(model)) {
    return failure(request, 400, { message: 'The provided model identifier is invalid.' })
  }
  if (!rules.strict) return undefined
  if (method === 'count-tokens') return countRefusal(request, model)
  if (method === 'invoke') {
    const message = invokeError(model, request.body)
    return message === undefined ? undefined : failure(request, 400, { message })
  }
  const { error, data } = converseBody.safeParse(request.body)
  if (error) {
    const [issue] = error.issues
    return failure(request, 400, { message: `${issue?.path.join('.')}: ${issue?.message}` })
  }
  const message = conversationError(data, model)
  return message === undefined ? undefined : failure(request, 400, { message })
}

function models(request: RecordedRequest, { models: names = listed }: Rules): Answer {
  const summary = { providerName: 'x', outputModalities: ['TEXT'], inferenceTypesSupported: ['ON_DEMAND'] }
  const modelSummaries = [
    ...names.map((modelId) => ({ modelId, modelName: modelId, ...summary })),
    { ...summary, modelId: 'amazon.titan-embed-text-v2:0', outputModalities: ['EMBEDDING'] },
    { ...summary, modelId: 'amazon.pictures-v1:0', outputModalities: ['IMAGE'] },
    { ...summary, modelId: 'anthropic.by-profile-only', inferenceTypesSupported: ['INFERENCE_PROFILE'] },
  ]
  return {
    status: 200,
    headers: serviceHeaders(request, 'application/json'),
    stream: false,
    frames: [JSON.stringify({ modelSummaries })],
  }
}
