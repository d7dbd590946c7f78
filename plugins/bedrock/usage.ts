import type { WireUsage } from '#kernel'
import { usageFromCounts } from '#provider'
import type { TokenUsage } from './wire.ts'

/** Usage in the canonical form, where the prompt's tokens are all there are: cached ones included. */
export function wireUsage(native: TokenUsage): WireUsage {
  return usageFromCounts({
    fresh: native.inputTokens ?? 0,
    read: native.cacheReadInputTokens ?? 0,
    written: native.cacheWriteInputTokens ?? 0,
    writtenForAnHour: native.cacheDetails?.find(({ ttl }) => ttl === '1h')?.inputTokens ?? 0,
    output: native.outputTokens ?? 0,
  })
}
