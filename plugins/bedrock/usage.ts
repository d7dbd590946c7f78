import type { WireUsage } from '#kernel'
import type { TokenUsage } from './wire.ts'

/** Usage in the canonical form, where the prompt's tokens are all there are: cached ones included. */
export function wireUsage(native: TokenUsage): WireUsage {
  const read = native.cacheReadInputTokens ?? 0
  const written = native.cacheWriteInputTokens ?? 0
  const hour = native.cacheDetails?.find(({ ttl }) => ttl === '1h')?.inputTokens ?? 0
  const prompt = (native.inputTokens ?? 0) + read + written
  const completion = native.outputTokens ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_5m_tokens: Math.max(0, written - hour),
      cache_write_1h_tokens: Math.min(hour, written),
    },
  }
}
