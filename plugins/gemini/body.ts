import { badRequest, type Call, type JsonObject, type ModelRequest, type Target } from '#kernel'
import type { Changes } from '#provider'
import { conversationOf } from './contents.ts'
import { fitOf, fittedThinking, placed, withCachedContent } from './fit.ts'
import { abilitiesOf } from './model.ts'
import { optionsOf } from './options.ts'
import { generationConfig } from './parameters.ts'
import { quirksOf } from './quirks.ts'
import { saidBy } from './said.ts'
import { toolFields } from './tools.ts'

/** Fields that are translated, or that the gateway itself has already heeded. */
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
  ...[
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'top_k',
    'seed',
    'logprobs',
    'top_logprobs',
  ],
  ...['presence_penalty', 'frequency_penalty', 'reasoning_effort', 'extra_body', 'safety_settings'],
  ...['cached_content', 'thinking_config', 'thinking', 'output_config', 'output_format'],
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

/** The body of a request for text; the fields of a client of this protocol's own wire go as they came. */
export function chatBody(call: Call, { model, provider }: Target, changes: Changes): object {
  const abilities = abilitiesOf(model, quirksOf(provider))
  const said = saidBy(call, abilities)
  const request = said?.rest ?? call.request
  const fit = fitOf(call)
  refuse(request)
  for (const [field, value] of Object.entries(request)) {
    if (value === undefined || value === null || read.has(field) || idle.get(field)?.(value)) continue
    changes.add(`-${field}`)
  }
  const extras = extrasOf(request)
  const { thinkingConfig, ...parameters } = generationConfig(request, model, abilities, changes)
  const thinking = fittedThinking(thinkingConfig, request, fit)
  const config = {
    ...parameters,
    ...(thinking && { thinkingConfig: thinking }),
    ...(extras.thinking_config !== undefined && { thinkingConfig: camelCase(extras.thinking_config) }),
  }
  const safety = extras.safety_settings ?? fit.safety_settings ?? optionsOf(provider).safety_settings
  const body = {
    ...(!said?.isSpoken &&
      placed(conversationOf(request.messages ?? [], abilities, changes), {
        system: abilities.instructions ? fit.system : 'first_turn',
      })),
    ...toolFields(request, abilities, changes, fit.function_calling),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...(safety !== undefined && { safetySettings: safety }),
    ...(extras.cached_content !== undefined && { cachedContent: extras.cached_content }),
  }
  return said ? said.body(body as JsonObject, changes) : withCachedContent(body, model, fit)
}

function refuse(request: ModelRequest): void {
  for (const field of refused) {
    if (request[field] !== undefined && request[field] !== null) {
      throw badRequest(`${field}: Gemini does not support it.`, { param: field })
    }
  }
  const { modalities } = request
  if (Array.isArray(modalities) && modalities.includes('audio')) {
    throw badRequest('modalities: only text is supported here.', { param: 'modalities' })
  }
}

interface Extras {
  readonly safety_settings?: unknown
  readonly cached_content?: unknown
  readonly thinking_config?: unknown
}

/** The fields that only Gemini knows: beside the other fields, or where Google's own compatible endpoint has them. */
function extrasOf(request: ModelRequest): Extras {
  const { google } = (request.extra_body ?? {}) as { readonly google?: Extras }
  return { ...google, ...(request as Extras) }
}

/** The fields of an object in the spelling of the API. */
function camelCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      field as unknown,
    ]),
  )
}
