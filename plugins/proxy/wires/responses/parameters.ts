import { badRequest, type ModelRequest, type Tool } from '#kernel'
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

/** The request without its conversation. What the wire does not know is carried as it came. */
export function parametersOf(body: ResponsesBody, report: Report): ModelRequest {
  for (const field in refused)
    if (body[field]) throw badRequest(`${field}: ${refused[field]}.`, { param: field })
  const { stream, max_output_tokens: max, text, reasoning, include } = body
  const request: Record<string, unknown> = unknownOf(body)
  for (const field of same) if (body[field] != null) request[field] = body[field]
  if (stream) request.stream = true
  if (max != null) request.max_completion_tokens = max
  if (text?.verbosity) request.verbosity = text.verbosity
  if (reasoning?.effort) request.reasoning_effort = reasoning.effort
  Object.assign(request, toolFields(body, report), formatOf(text?.format), logprobsOf(body))
  const summary = reasoning?.summary ?? reasoning?.generate_summary ?? 'auto'
  if (summary === 'concise' || summary === 'detailed') report(`reasoning.summary:${summary}->auto`)
  if (body.truncation === 'auto') report('-truncation')
  if (body.max_tool_calls != null) report('-max_tool_calls')
  if (body.stream_options?.include_obfuscation) report('-stream_options.include_obfuscation')
  for (const name of include ?? []) if (!given.has(name)) report(`-include.${name}`)
  return request as unknown as ModelRequest
}

/** What can be included in an answer; the first and the last are there anyway. */
const given = new Set([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
])

/** Fields that the wire reads, and so are not passed on as they are. */
const read = new Set<string>([
  ...same,
  ...Object.keys(refused),
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
  'max_tool_calls',
  'text',
  'reasoning',
  'max_output_tokens',
  'top_logprobs',
  'include',
  'truncation',
])

const unknownOf = (body: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !read.has(field)))

function toolFields(
  { tools, tool_choice: choice, parallel_tool_calls: parallel }: ResponsesBody,
  report: Report,
) {
  if (!tools || tools.length === 0) {
    if (choice != null && choice !== 'auto' && choice !== 'none') report('-tool_choice')
    return {}
  }
  return {
    tools: tools.map((tool, i) => toolOf(tool, `tools.${i}`)),
    ...(choice != null && { tool_choice: choiceOf(choice) }),
    ...(parallel != null && { parallel_tool_calls: parallel }),
  }
}

function toolOf(tool: Fields, at: string): Tool {
  const { type, name, description, parameters, strict, format } = tool
  if (type !== 'function' && type !== 'custom')
    throw badRequest(`${at}.type: tools of the type ${String(type)} cannot be carried; use functions.`, {
      param: `${at}.type`,
    })
  if (typeof name !== 'string' || name === '')
    throw badRequest(`${at}.name: a tool needs a name.`, { param: `${at}.name` })
  const about = { name, ...(description != null && { description }) }
  if (type === 'custom') return { type, custom: { ...about, ...(format != null && grammarOf(format)) } }
  return {
    type,
    function: {
      ...about,
      ...(parameters != null && { parameters }),
      ...(strict != null && { strict }),
    } as NonNullable<Tool['function']>,
  }
}

/** What a custom tool takes: this wire writes a grammar flat, the canonical form does not. */
function grammarOf(format: unknown): Fields {
  const { type, ...grammar } = format as Fields
  return { format: type === 'grammar' ? { type, grammar } : format }
}

function choiceOf(choice: NonNullable<ResponsesBody['tool_choice']>): unknown {
  if (typeof choice === 'string') return choice
  const { type, name, mode, tools } = choice as Fields
  if (type === 'function' || type === 'custom') return { type, [type]: { name } }
  if (type === 'allowed_tools' && Array.isArray(tools))
    return { type, allowed_tools: { mode, tools: tools.map((tool) => choiceOf(tool)) } }
  throw badRequest(`tool_choice.type: tools of the type ${String(type)} cannot be chosen.`, {
    param: 'tool_choice.type',
  })
}

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
