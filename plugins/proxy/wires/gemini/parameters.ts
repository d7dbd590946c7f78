import type { JsonObject, ResponseFormat } from '#kernel'
import type { Lose } from './contents.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { Fields, GenerationConfig } from './schema.ts'

/** Parameters that the canonical form has under another name. */
const names: ReadonlyMap<string, string> = new Map(
  Object.entries({
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    candidateCount: 'n',
    maxOutputTokens: 'max_completion_tokens',
    stopSequences: 'stop',
    seed: 'seed',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    responseLogprobs: 'logprobs',
    logprobs: 'top_logprobs',
  }),
)

/** Fields that say how the answer is to look, or how hard to think. */
const translated = new Set(['responseMimeType', 'responseSchema', 'responseJsonSchema', 'thinkingConfig'])

/** The parameters of generation. `lose` receives the fields that have no counterpart. */
export function parametersOf(config: GenerationConfig, lose: Lose): Fields {
  const parameters: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(config)) {
    if (value === null || value === undefined) continue
    const name = names.get(field)
    if (name !== undefined) parameters[name] = value
    else if (!translated.has(field)) lose(`generationConfig.${field}`)
  }
  const format = formatOf(config, lose)
  const effort = effortOf(config.thinkingConfig)
  return {
    ...parameters,
    ...(format && { response_format: format }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  }
}

function formatOf(
  { responseMimeType: type, responseSchema, responseJsonSchema }: GenerationConfig,
  lose: Lose,
): ResponseFormat | undefined {
  const schema = responseJsonSchema ?? (responseSchema && jsonSchemaOf(responseSchema as JsonObject))
  if (type && type !== 'application/json') {
    if (type !== 'text/plain') lose('generationConfig.responseMimeType')
    if (schema) lose('generationConfig.responseSchema')
    return undefined
  }
  if (schema) return { type: 'json_schema', json_schema: { name: 'answer', schema: schema as JsonObject } }
  return type ? { type: 'json_object' } : undefined
}

/** Tokens to think with, up to which an effort is meant. */
const efforts = [
  [0, 'none'],
  [4096, 'low'],
  [16_384, 'medium'],
] as const

/** How hard to think, in words: levels are such, budgets are meant so. */
function effortOf(config: GenerationConfig['thinkingConfig']): string | undefined {
  const { thinkingLevel: level, thinkingBudget: budget } = config ?? {}
  if (level && !/unspecified/i.test(level)) return level.toLowerCase()
  // A budget below zero leaves it to the model.
  if (typeof budget !== 'number' || budget < 0) return undefined
  return efforts.find(([most]) => budget <= most)?.[1] ?? 'high'
}
