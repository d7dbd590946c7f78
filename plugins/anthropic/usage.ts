import type { WireUsage } from '#kernel'
import { usageFromCounts } from '#kit'

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
  const hour = native.cache_creation?.ephemeral_1h_input_tokens ?? 0
  const fiveMinutes = native.cache_creation?.ephemeral_5m_input_tokens ?? 0
  const usage = usageFromCounts({
    fresh: native.input_tokens ?? 0,
    read: native.cache_read_input_tokens ?? 0,
    written: native.cache_creation_input_tokens ?? hour + fiveMinutes,
    writtenForAnHour: hour,
    output: native.output_tokens ?? 0,
    reasoning: native.output_tokens_details?.thinking_tokens ?? undefined,
  })
  const { server_tool_use } = native
  return server_tool_use === undefined || server_tool_use === null ? usage : { ...usage, server_tool_use }
}
