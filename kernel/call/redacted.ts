import type { ModelRequest } from '../../kit/canonical/forms.ts'
import type { Call } from './call.ts'

/** The fields of a request besides its texts: every module may read and change them. */
const parameters: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
  'service_tier',
  'parallel_tool_calls',
  'dimensions',
  'encoding_format',
  'modalities',
])

/** The request without its texts: its parameters, and the roles of its messages. */
export function withoutTexts(request: ModelRequest): ModelRequest {
  const rest: Record<string, unknown> = {}
  for (const field in request) if (parameters.has(field)) rest[field] = request[field]
  if (request.messages) rest.messages = request.messages.map(({ role }) => ({ role, content: null }))
  return rest as ModelRequest
}

/** Fields other than parameters in which two requests differ. */
export function changedTexts(before: ModelRequest, after: ModelRequest): string[] {
  return changes(before, after).filter((field) => !parameters.has(field))
}

/** The call itself, with the changes of a module that saw it without its texts. */
export function mergeParameters(call: Call, seen: Call, changed: Call): Call {
  if (changed === seen) return call
  const { context, timeouts, cancel } = changed
  const next = call.with({ context, timeouts, cancel })
  const fields = changes(seen.request, changed.request)
  return fields.length === 0
    ? next
    : next.withRequest(Object.fromEntries(fields.map((field) => [field, changed.request[field]])))
}

export function changes(before: ModelRequest, after: ModelRequest): string[] {
  if (before === after) return []
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].filter((field) => before[field] !== after[field])
}
