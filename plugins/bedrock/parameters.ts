import { badRequest, type ModelRequest } from '#kernel'
import { tokenLimit } from '#kit'
import type { Changes } from '#provider'
import type { ModelFacts } from './models.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that are translated, or that the gateway itself has already heeded. */
const translated = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n', 'stop'],
  ...['temperature', 'top_p', 'top_k', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format'],
  ...['reasoning_effort', 'thinking', 'output_config', 'output_format', 'service_tier'],
  'additional_model_request_fields',
])

/** Bedrock's own fields, as its API spells them and as OpenAI's clients would. */
const own: ReadonlyMap<string, string> = new Map(
  ['guardrailConfig', 'performanceConfig', 'requestMetadata'].flatMap((name) => [
    [name, name],
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name],
  ]),
)

/** Values that change nothing. */
const idle: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    frequency_penalty: (value) => value === 0,
    logit_bias: (value) => JSON.stringify(value) === '{}',
    logprobs: (value) => value === false,
    modalities: (value) => JSON.stringify(value) === '["text"]',
    presence_penalty: (value) => value === 0,
    store: (value) => value === false,
    top_logprobs: (value) => value === 0,
  }),
)

/** Fields without which the answer would be another than the one that was asked for. */
const refused = ['functions', 'function_call', 'audio', 'prediction', 'web_search_options', 'mcp_servers']

/** Refuses what cannot be left out, and tells what is. */
export function checkFields(request: ModelRequest, changes: Changes): void {
  for (const field of refused) {
    const value = request[field]
    if (value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)) {
      throw badRequest(`${field}: Bedrock's Converse API does not support it.`, { param: field })
    }
  }
  if (typeof request.n === 'number' && request.n > 1) {
    throw badRequest('n: Bedrock gives one answer at a time; leave it out or ask several times.', {
      param: 'n',
    })
  }
  const { modalities } = request
  if (Array.isArray(modalities) && modalities.includes('audio')) {
    throw badRequest('modalities: only text is supported here.', { param: 'modalities' })
  }
  for (const [field, value] of Object.entries(request)) {
    if (value === undefined || value === null || translated.has(field) || own.has(field)) continue
    if (!refused.includes(field) && !idle.get(field)?.(value)) changes.add(`-${field}`)
  }
}

/** Bedrock's own fields, as far as the caller names them. */
export function ownFields(request: ModelRequest): Fields {
  const fields: Record<string, unknown> = {}
  for (const [written, name] of own) {
    const value = request[written]
    if (value !== undefined && value !== null) fields[name] = value
  }
  return fields
}

/** The processing tier, where what is asked for is one of Bedrock's. */
export function tierOf({ service_tier: tier }: ModelRequest, changes: Changes): Fields {
  if (tier === undefined || tier === null || tier === 'auto' || tier === 'standard_only') return {}
  if (['default', 'flex', 'priority', 'reserved'].includes(String(tier)))
    return { serviceTier: { type: tier } }
  changes.add('-service_tier')
  return {}
}

/** The parameters that all models have. */
export function inferenceConfig(
  request: ModelRequest,
  { sampling }: ModelFacts,
  thinks: boolean,
  changes: Changes,
): Fields {
  const maxTokens = tokenLimit(request)
  const wanted: { temperature?: number; topP?: number } = {}
  const { temperature, top_p } = request
  if (typeof temperature === 'number') {
    if (temperature > 1) changes.add(`temperature:${temperature}->1`)
    wanted.temperature = Math.min(1, temperature)
  }
  if (typeof top_p === 'number') wanted.topP = top_p
  const drop = (field: 'temperature' | 'topP', name: string): void => {
    const value = wanted[field]
    delete wanted[field]
    if (value !== undefined && value !== 1) changes.add(`-${name}`)
  }
  if (sampling === 'none' || thinks) drop('temperature', 'temperature')
  if (sampling === 'none' || thinks || (sampling === 'one' && wanted.temperature !== undefined))
    drop('topP', 'top_p')
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...wanted,
    ...stopsOf(request, changes),
  }
}

/** `stop`, without the blank ones that the service refuses. */
function stopsOf({ stop }: ModelRequest, changes: Changes): Fields {
  const all: readonly unknown[] = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop : []
  const stopSequences = all.filter((text) => typeof text !== 'string' || text.trim() !== '')
  if (stopSequences.length < all.length) changes.add('-stop')
  return stopSequences.length > 0 ? { stopSequences } : {}
}

/** `top_k`, which each maker has in a place of its own. */
export function topK({ top_k: value }: ModelRequest, { maker }: ModelFacts, changes: Changes): Fields {
  if (value === undefined || value === null) return {}
  if (maker === 'anthropic') return { top_k: value }
  if (maker === 'nova') return { inferenceConfig: { topK: value } }
  changes.add('-top_k')
  return {}
}
