import { type Attempt, type Call, isUpstreamError, type Outcome } from '#kernel'
import { usdOf } from '#kit'
import { inputMessages, outputMessages } from './content.ts'

/** Facts of a span by their names in the OpenTelemetry semantic conventions; ours begin with `switchyard.`. */
export type Attributes = Record<string, string | number | boolean | string[]>

/** Longer names are cut: clients choose them. */
const longestName = 256

const operations = { chat: 'chat', completion: 'text_completion', embedding: 'embeddings' } as const

/** Providers that the conventions know under another name. */
const providers: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  vertex: 'gcp.vertex_ai',
  'vertex-claude': 'gcp.vertex_ai',
  xai: 'x_ai',
}

/** The name of a span for a model. */
export const spanName = ({ operation }: Call, model: string): string =>
  `${operations[operation]} ${model.slice(0, longestName)}`

/**
 * The facts of a call that has settled. Token counts are here and not at its attempts, so that a sum over spans counts each
 * token once. Texts are what the guards have let pass, and only with `captureContent`.
 */
export function callAttributes(call: Call, outcome: Outcome, captureContent: boolean): Attributes {
  const { context, request, trace } = call
  const { error, ending, cost, finishReason, ttftMs } = outcome
  const body = outcome.body()
  const all: Attributes = {
    ...asked(call, outcome.provider, request.model),
    ...parametersOf(call),
    ...usageOf(outcome),
    'switchyard.trace_id': call.id,
    'switchyard.project': context.project,
    'switchyard.source': context.source,
    'switchyard.ending': ending,
  }
  const model = body?.model ?? outcome.model
  if (typeof model === 'string') all['gen_ai.response.model'] = model.slice(0, longestName)
  if (typeof body?.id === 'string') all['gen_ai.response.id'] = body.id.slice(0, longestName)
  if (finishReason !== undefined) all['gen_ai.response.finish_reasons'] = [finishReason]
  if (call.stream && ttftMs !== undefined) all['gen_ai.response.time_to_first_chunk'] = ttftMs / 1000
  if (context.sessionId !== undefined) all['gen_ai.conversation.id'] = context.sessionId
  if (error) all['error.type'] = errorType(error)
  if (cost) all['switchyard.cost_usd'] = usdOf(cost.totalNano)
  if (cost?.unpriced !== undefined) all['switchyard.unpriced_attempts'] = cost.unpriced
  if (trace.cached) all['switchyard.cache'] = trace.cached.kind
  if (captureContent && trace.request) {
    const input = inputMessages(trace.request)
    const output = body && outputMessages(body)
    if (input !== undefined) all['gen_ai.input.messages'] = input
    if (output !== undefined) all['gen_ai.output.messages'] = output
  }
  return all
}

/** The facts of one try at a provider. */
export function attemptAttributes(call: Call, attempt: Attempt): Attributes {
  const { provider, model, n, status, error, reasonNext } = attempt
  const all: Attributes = { ...asked(call, provider, model), 'switchyard.attempt': n }
  if (n > 1) all['http.request.resend_count'] = n - 1
  if (status !== undefined) all['http.response.status_code'] = status
  if (error) all['error.type'] = errorType(error)
  if (reasonNext !== undefined) all['switchyard.reason_next'] = reasonNext
  return all
}

function asked({ operation }: Call, provider: string | undefined, model: string): Attributes {
  const all: Attributes = {
    'gen_ai.operation.name': operations[operation],
    'gen_ai.request.model': model.slice(0, longestName),
  }
  if (provider !== undefined) all['gen_ai.provider.name'] = providers[provider] ?? provider
  return all
}

/** Names of numeric parameters in requests, and in the conventions. */
const numeric = [
  ['max_tokens', 'gen_ai.request.max_tokens'],
  ['max_completion_tokens', 'gen_ai.request.max_tokens'],
  ['temperature', 'gen_ai.request.temperature'],
  ['top_p', 'gen_ai.request.top_p'],
  ['frequency_penalty', 'gen_ai.request.frequency_penalty'],
  ['presence_penalty', 'gen_ai.request.presence_penalty'],
  ['seed', 'gen_ai.request.seed'],
  ['dimensions', 'gen_ai.embeddings.dimension.count'],
] as const

function parametersOf({ request, stream }: Call): Attributes {
  const all: Attributes = {}
  if (stream) all['gen_ai.request.stream'] = true
  for (const [field, name] of numeric) {
    const value = request[field]
    if (typeof value === 'number') all[name] = value
  }
  if (typeof request.n === 'number' && request.n !== 1) all['gen_ai.request.choice.count'] = request.n
  const form = request.response_format?.type
  if (form !== undefined) all['gen_ai.output.type'] = form === 'text' ? 'text' : 'json'
  return all
}

function usageOf({ usage }: Outcome): Attributes {
  if (usage.source === 'none') return {}
  const all: Attributes = {
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
  }
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  if (usage.cachedRead > 0) all['gen_ai.usage.cache_read.input_tokens'] = usage.cachedRead
  if (written > 0) all['gen_ai.usage.cache_creation.input_tokens'] = written
  if (usage.reasoning > 0) all['gen_ai.usage.reasoning.output_tokens'] = usage.reasoning
  if (usage.source === 'estimated') all['switchyard.usage_estimated'] = true
  return all
}

/** A word for the kind of an error, never its message: that may quote a prompt. */
function errorType(error: NonNullable<Outcome['error']>): string {
  if (!isUpstreamError(error)) return error.type
  return error.providerStatus === undefined ? error.fault : String(error.providerStatus)
}
