import { badRequest, type ModelRequest } from '#kernel'
import { tokenLimit } from '#kit'
import type { Changes } from '#provider'
import type { Abilities } from './model.ts'
import { narrowed } from './schema.ts'
import { thinkingOf } from './thinking.ts'

/** Parameters that have a counterpart of the same meaning. */
const same: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  n: 'candidateCount',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  logprobs: 'responseLogprobs',
  top_logprobs: 'logprobs',
}

const mostStops = 5
const mostCandidates = 8

type Parameters = Record<string, unknown> & { thinkingConfig?: object }

/** The parameters of generation. */
export function generationConfig(
  request: ModelRequest,
  model: string,
  abilities: Abilities,
  changes: Changes,
): Parameters {
  const config: Parameters = {}
  for (const [field, name] of Object.entries(same)) {
    const value = request[field]
    if (value !== undefined && value !== null) config[name] = value
  }
  if (typeof request.n === 'number' && request.n > mostCandidates) {
    throw badRequest(`n: Gemini gives at most ${mostCandidates} answers.`, { param: 'n' })
  }
  const limit = tokenLimit(request)
  if (limit !== undefined) config.maxOutputTokens = limit
  const stops = stopsOf(request.stop)
  if (stops.length > 0) config.stopSequences = stops
  Object.assign(config, formatOf(request, abilities, changes))
  const thinking = thinkingOf(request, model, changes)
  if (thinking) config.thinkingConfig = thinking
  return config
}

/** Always a list there, and of five at most. */
function stopsOf(stop: unknown): readonly unknown[] {
  if (stop === undefined || stop === null) return []
  const stops = Array.isArray(stop) ? stop : [stop]
  if (stops.length > mostStops) {
    throw badRequest(`stop: Gemini accepts at most ${mostStops} sequences.`, { param: 'stop' })
  }
  return stops
}

function formatOf(
  { response_format: format }: ModelRequest,
  { jsonSchema }: Abilities,
  changes: Changes,
): object {
  if (!format || format.type === 'text') return {}
  const json = { responseMimeType: 'application/json' }
  if (format.type === 'json_object') return json
  if (format.type !== 'json_schema') {
    const param = 'response_format.type'
    throw badRequest(`${param}: expected text, json_object or json_schema.`, { param })
  }
  const schema = format.json_schema?.schema
  if (!schema) return json
  if (jsonSchema) return { ...json, responseJsonSchema: schema }
  const dropped = (keyword: string): void => changes.add(`-response_format.schema.${keyword}`)
  return { ...json, responseSchema: narrowed(schema, dropped) }
}
