import type { WireUsage } from '#kernel'

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

/** Usage in the wire's terms: what was read from and written to a cache does not count as input. */
export function nativeUsage(usage: WireUsage | null | undefined) {
  const details = usage?.prompt_tokens_details
  const read = count(details?.cached_tokens)
  const short = count(details?.cache_write_5m_tokens)
  const long = count(details?.cache_write_1h_tokens)
  const thinking = usage?.completion_tokens_details?.reasoning_tokens
  return {
    input_tokens: Math.max(0, count(usage?.prompt_tokens) - read - short - long),
    cache_creation_input_tokens: short + long,
    cache_read_input_tokens: read,
    ...(short + long > 0 && {
      cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    }),
    output_tokens: count(usage?.completion_tokens),
    ...(count(thinking) > 0 && { output_tokens_details: { thinking_tokens: thinking } }),
    ...(usage?.server_tool_use !== undefined && { server_tool_use: usage.server_tool_use }),
  }
}
