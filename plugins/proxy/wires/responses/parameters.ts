import { badRequest, type ModelRequest } from '#kernel'
import type { Fields, Report, ResponsesBody } from './schema.ts'

/** Parts of the service that are no part of a model's call, and what a caller can do without them. */
const refused: Readonly<Record<string, string>> = {
  background: 'responses are not made in the background; leave it out, or stream',
  conversation: 'conversations are not kept here; use previous_response_id, or send the items',
  prompt: 'prompts are not kept here; send instructions and input',
}

/** Fields that a request of the canonical form has under the same name and in the same shape. */
const same = [
  'model',
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
] as const

/** The request without its conversation and its tools. A field that the wire does not know is carried as it came. */
export function parametersOf(body: ResponsesBody, report: Report): ModelRequest {
  for (const field in refused)
    if (body[field]) throw badRequest(`${field}: ${refused[field]}.`, { param: field })
  const { stream, max_output_tokens: max, text, reasoning } = body
  const request: Record<string, unknown> = unknownOf(body)
  for (const field of same) if (body[field] != null) request[field] = body[field]
  if (stream) request.stream = true
  if (max != null) request.max_completion_tokens = max
  if (text?.verbosity) request.verbosity = text.verbosity
  if (reasoning?.effort) request.reasoning_effort = reasoning.effort
  Object.assign(request, formatOf(text?.format), logprobsOf(body))
  reportLost(body, report)
  return request as unknown as ModelRequest
}

/** Names what the model will not hear of, and the answer will not have. */
function reportLost(body: ResponsesBody, report: Report): void {
  const { format: _, verbosity: __, ...text } = body.text ?? {}
  const { effort: ___, summary, generate_summary: older, ...reasoning } = body.reasoning ?? {}
  const asked = summary ?? older ?? 'auto'
  if (asked === 'concise' || asked === 'detailed') report(`reasoning.summary:${asked}->auto`)
  const parts = { text, reasoning, stream_options: body.stream_options ?? {} }
  for (const [part, fields] of Object.entries(parts))
    for (const [field, value] of Object.entries(fields)) if (value) report(`-${part}.${field}`)
  if (body.truncation === 'auto') report('-truncation')
  for (const field of lost) if (body[field] != null) report(`-${field}`)
  for (const name of body.include ?? []) if (!given.has(name)) report(`-include.${name}`)
}

/** What can be included in an answer; the first and the last are there anyway. */
const given = new Set([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
])

/** Fields of OpenAI's own Responses that say nothing to a model elsewhere, or are notes of the client's. */
const lost = ['access_programs', 'client_metadata', 'context_management', 'image', 'max_tool_calls'] as const

/** Fields that the wire reads, and so are not passed on as they are. */
const read = new Set<string>([
  ...same,
  ...Object.keys(refused),
  ...lost,
  'input',
  'instructions',
  'previous_response_id',
  'store',
  'metadata',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'max_output_tokens',
  'top_logprobs',
  'include',
  'truncation',
])

const unknownOf = (body: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !read.has(field)))

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): Fields {
  if (!format || format.type === 'text') return {}
  const { type, ...schema } = format
  if (type === 'json_object') return { response_format: { type } }
  if (schema.name === undefined || schema.schema === undefined) {
    const missing = `text.format.${schema.name === undefined ? 'name' : 'schema'}`
    throw badRequest(`${missing}: a JSON schema needs a name and a schema.`, { param: missing })
  }
  return { response_format: { type, json_schema: schema } }
}

function logprobsOf({ top_logprobs: top, include }: ResponsesBody): Fields {
  const asked = include?.includes('message.output_text.logprobs') || (top ?? 0) > 0
  return asked ? { logprobs: true, ...(top && { top_logprobs: top }) } : {}
}
