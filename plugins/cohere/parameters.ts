import { badRequest, type ModelRequest } from '#kernel'
import { tokenLimit } from '#kit'
import type { Changes } from '#provider'

const mostStops = 5

/** Parameters that are the same there, or go by another name. */
const names: ReadonlyMap<string, string> = new Map(
  Object.entries({
    temperature: 'temperature',
    seed: 'seed',
    top_k: 'k',
    k: 'k',
    documents: 'documents',
    citation_options: 'citation_options',
    safety_mode: 'safety_mode',
    strict_tools: 'strict_tools',
    priority: 'priority',
  }),
)

/** Numbers that have narrower bounds there. */
const bounds: ReadonlyMap<string, { readonly name: string; readonly min: number; readonly max: number }> =
  new Map(
    Object.entries({
      top_p: { name: 'p', min: 0.01, max: 0.99 },
      frequency_penalty: { name: 'frequency_penalty', min: 0, max: 1 },
      presence_penalty: { name: 'presence_penalty', min: 0, max: 1 },
    }),
  )

/** Fields that are translated here or elsewhere. */
const read = new Set([
  ...[
    'model',
    'messages',
    'stream',
    'stream_options',
    'tools',
    'tool_choice',
    'response_format',
    'stop',
    'n',
  ],
  ...['max_tokens', 'max_completion_tokens', 'logprobs', 'reasoning_effort', 'thinking', 'output_format'],
  ...names.keys(),
  ...bounds.keys(),
])

/** Values that change nothing. */
const idle: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    parallel_tool_calls: (value) => value === true,
    modalities: (value) => JSON.stringify(value) === '["text"]',
    logit_bias: (value) => JSON.stringify(value) === '{}',
  }),
)

/** Fields without which the answer would be another than the one that was asked for. */
const refused = ['functions', 'function_call', 'audio', 'prediction', 'web_search_options']

/** The parameters of a request for text. */
export function parametersOf(
  request: ModelRequest,
  model: string,
  changes: Changes,
): Record<string, unknown> {
  refuse(request)
  const sent: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(request)) {
    if (value === undefined || value === null || idle.get(field)?.(value)) continue
    const name = names.get(field)
    const bound = bounds.get(field)
    if (name !== undefined) sent[name] = value
    else if (bound) sent[bound.name] = bounded(field, value, bound, changes)
    else if (!read.has(field)) changes.add(`-${field}`)
  }
  const limit = tokenLimit(request)
  if (limit !== undefined) sent.max_tokens = limit
  if (request.logprobs === true) sent.logprobs = true
  const stops = stopsOf(request.stop)
  if (stops.length > 0) sent.stop_sequences = stops
  const format = formatOf(request)
  if (format) sent.response_format = format
  const thinking = thinkingOf(request, model, changes)
  if (thinking) sent.thinking = thinking
  return sent
}

function refuse(request: ModelRequest): void {
  for (const field of refused) {
    if (request[field] !== undefined && request[field] !== null) {
      throw badRequest(`${field}: Cohere does not support it.`, { param: field })
    }
  }
  if (typeof request.n === 'number' && request.n > 1) {
    throw badRequest('n: Cohere gives one answer.', { param: 'n' })
  }
  const { modalities } = request
  if (Array.isArray(modalities) && modalities.includes('audio')) {
    throw badRequest('modalities: only text is supported here.', { param: 'modalities' })
  }
}

function bounded(
  field: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
  changes: Changes,
): unknown {
  if (typeof value !== 'number' || (value >= min && value <= max)) return value
  const nearest = value < min ? min : max
  changes.add(`${field}:${value}->${nearest}`)
  return nearest
}

function stopsOf(stop: unknown): readonly unknown[] {
  if (stop === undefined || stop === null) return []
  const stops = Array.isArray(stop) ? stop : [stop]
  if (stops.length > mostStops) {
    throw badRequest(`stop: Cohere accepts at most ${mostStops} sequences.`, { param: 'stop' })
  }
  return stops
}

function formatOf({ response_format: format }: ModelRequest): object | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type === 'json_schema') {
    const schema = format.json_schema?.schema
    return { type: 'json_object', ...(schema && { json_schema: schema }) }
  }
  const param = 'response_format.type'
  throw badRequest(`${param}: expected text, json_object or json_schema.`, { param })
}

interface Thinking {
  readonly type?: unknown
  readonly token_budget?: unknown
  /** As Anthropic's clients say it. */
  readonly budget_tokens?: unknown
}

/** Models that think do so or not; how much, only `thinking` itself says. */
function thinkingOf(
  { thinking, reasoning_effort: effort }: ModelRequest,
  model: string,
  changes: Changes,
): object | undefined {
  const { type, token_budget, budget_tokens } = (thinking ?? {}) as Thinking
  const off = type === 'disabled' || (type === undefined && effort === 'none')
  if (type === undefined && (effort === undefined || effort === null)) return undefined
  if (!/reasoning/.test(model)) {
    if (!off) changes.add(type === undefined ? '-reasoning_effort' : '-thinking')
    return undefined
  }
  if (off) return { type: 'disabled' }
  if (type === undefined && effort !== 'high') changes.add(`reasoning_effort:${String(effort)}->enabled`)
  const budget = token_budget ?? budget_tokens
  return { type: 'enabled', ...(budget !== undefined && { token_budget: budget }) }
}
