import type { Call, Candidate, Capability, Message, ModelRequest } from '#kernel'
import type { Configuration } from '../configuration/fields.ts'

/** The capability that a part of a message asks for, by the end of its type. */
const ofParts: readonly (readonly [RegExp, Capability])[] = [
  [/image(_url)?$/, 'vision'],
  [/audio$/, 'audio_input'],
  [/video(_url)?$/, 'video'],
  [/^(input_)?file$|^document$/, 'files'],
]

/** What a model must be able to do for a request. */
export function needsOf(request: ModelRequest, guard: Configuration['guard']): Capability[] {
  const { tools, functions, response_format: format, modalities, messages = [] } = request
  const needs = new Set<Capability>(messages.flatMap(needsOfMessage))
  if (isFilled(tools) || isFilled(functions) || guard.require_tools) needs.add('tools')
  const type = (format as { readonly type?: unknown } | null | undefined)?.type
  if ((type !== undefined && type !== 'text') || guard.require_json) needs.add('json_schema')
  if (Array.isArray(modalities) && modalities.includes('audio')) needs.add('audio_output')
  if (request.web_search_options) needs.add('web_search')
  return [...needs]
}

function needsOfMessage({ role, content, tool_calls: calls }: Message): Capability[] {
  const parts = Array.isArray(content) ? content : []
  const media = ofParts.flatMap(([form, need]) => (parts.some(({ type }) => form.test(type)) ? [need] : []))
  return role === 'tool' || isFilled(calls) ? [...media, 'tools'] : media
}

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0

/**
 * What a place lacks for a call; undefined where it has everything. What is not known of a model counts as lacking, since a call
 * that fails costs more than the dearer model.
 */
export function lackOf(
  { window, capabilities }: Candidate,
  needs: readonly Capability[],
  tokens: number,
): string | undefined {
  const missing = needs.find((need) => capabilities[need] !== true)
  if (missing !== undefined)
    return capabilities[missing] === false ? `has no ${missing}` : `may have no ${missing}`
  if (window === undefined) return 'has a context window that is not known'
  return tokens > window ? `has a context window of ${window} tokens` : undefined
}

/** Whether a call is of a kind that calibrations can compare. */
export const isComparable = ({ operation }: Call): boolean => operation === 'chat'
