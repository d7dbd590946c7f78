import { badRequest, type ModelRequest } from '#kernel'
import type { ModelFacts } from './models.ts'

type Fields = Readonly<Record<string, unknown>>
type Report = (change: string) => void

/** Parameters of OpenAI's that have no counterpart here, and the values that say no more than leaving them out. */
const dropped: Readonly<Record<string, readonly unknown[]>> = {
  audio: [],
  frequency_penalty: [0],
  function_call: [],
  functions: [],
  logit_bias: [],
  logprobs: [false],
  metadata: [],
  modalities: [],
  moderation: [],
  prediction: [],
  presence_penalty: [0],
  prompt_cache_key: [],
  prompt_cache_options: [],
  prompt_cache_retention: [],
  seed: [],
  store: [false],
  top_logprobs: [0],
  verbosity: [],
  web_search_options: [],
}

/** Fields that are carried over under other names or in other shapes, and so are not passed on as they are. */
const translated = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'n',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'user',
  'safety_identifier',
])

/** Parameters that are passed on as they came: the service's own, and unknown ones. */
export function ownParams(request: ModelRequest, native: boolean, report: Report): Record<string, unknown> {
  const own: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(request)) {
    if (translated.has(field) || value === undefined) continue
    const idle = native ? undefined : dropped[field]
    if (idle) {
      if (value !== null && !idle.includes(value)) report(`-${field}`)
    } else if (!native && field === 'service_tier' && value !== 'auto' && value !== 'standard_only') {
      if (value !== null) report('-service_tier')
    } else own[field] = value
  }
  return own
}

/** `stop`, without the blank ones that the service refuses. */
export function stopsOf({ stop }: ModelRequest, native: boolean, report: Report): Fields {
  const all: readonly unknown[] = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop : []
  const stops = native ? all : all.filter((text) => typeof text !== 'string' || text.trim() !== '')
  if (stops.length < all.length) report('-stop')
  return stops.length > 0 ? { stop_sequences: stops } : {}
}

/** `temperature` and `top_p` as far as the model takes them. */
export function samplingOf(
  { temperature, top_p }: ModelRequest,
  { sampling }: ModelFacts,
  { native, thinks, report }: { native: boolean; thinks: boolean; report: Report },
): Fields {
  const wanted: { temperature?: number; top_p?: unknown } = {
    ...(typeof temperature === 'number' && { temperature }),
    ...(top_p !== undefined && top_p !== null && { top_p }),
  }
  if (native) return wanted
  if (wanted.temperature !== undefined && wanted.temperature > 1) {
    report(`temperature:${wanted.temperature}->1`)
    wanted.temperature = 1
  }
  const drop = (field: 'temperature' | 'top_p'): void => {
    if (wanted[field] === undefined || wanted[field] === 1) {
      delete wanted[field]
      return
    }
    delete wanted[field]
    report(`-${field}`)
  }
  if (sampling === 'none' || thinks) drop('temperature')
  if (sampling === 'none' || thinks || (sampling === 'one' && wanted.temperature !== undefined)) drop('top_p')
  return wanted
}

/** One choice is all there is. */
export function refuseChoices({ n }: ModelRequest): void {
  if (typeof n === 'number' && n > 1)
    throw badRequest('Anthropic gives one answer at a time; leave n out or ask several times.', {
      param: 'n',
    })
}
