import type { WireUsage } from '#kernel'

/** Usage as the service reports it: tokens read from and written to its cache are not part of `input_tokens`. */
export interface NativeUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number | null
    readonly ephemeral_1h_input_tokens?: number | null
  } | null
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null
  readonly server_tool_use?: unknown
  readonly service_tier?: unknown
}

/** The newer report over the older: its figures are totals, so they replace; those it leaves out stay. */
export function mergeUsage(older: NativeUsage, newer: NativeUsage | null | undefined): NativeUsage {
  const given = Object.entries(newer ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return { ...older, ...Object.fromEntries(given) }
}

/** The report in OpenAI's terms, where the prompt's tokens are all there are. */
export function wireUsage(native: NativeUsage): WireUsage {
  const read = native.cache_read_input_tokens ?? 0
  const hour = native.cache_creation?.ephemeral_1h_input_tokens ?? 0
  const written =
    native.cache_creation_input_tokens ?? hour + (native.cache_creation?.ephemeral_5m_input_tokens ?? 0)
  const prompt = (native.input_tokens ?? 0) + read + written
  const completion = native.output_tokens ?? 0
  const thinking = native.output_tokens_details?.thinking_tokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_5m_tokens: Math.max(0, written - hour),
      cache_write_1h_tokens: Math.min(hour, written),
    },
    ...(typeof thinking === 'number' && { completion_tokens_details: { reasoning_tokens: thinking } }),
    ...(native.server_tool_use !== undefined &&
      native.server_tool_use !== null && { server_tool_use: native.server_tool_use }),
  }
}
