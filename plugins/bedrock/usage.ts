import type { WireUsage } from '#kernel'
import { usageFromCounts } from '#provider'
import type { TokenUsage } from './wire.ts'

/** Tokens of one time to live in the cache; a value that is no list holds none. */
const writtenFor = (ttl: string, details: TokenUsage['cacheDetails']): number =>
  Array.isArray(details) ? (details.find((detail) => detail?.ttl === ttl)?.inputTokens ?? 0) : 0

/** Usage in the canonical form, where the prompt's tokens are all there are: cached ones included. */
export function wireUsage(native: TokenUsage): WireUsage {
  return usageFromCounts({
    fresh: native.inputTokens ?? 0,
    read: native.cacheReadInputTokens ?? 0,
    written: native.cacheWriteInputTokens ?? 0,
    writtenForAnHour: writtenFor('1h', native.cacheDetails),
    output: native.outputTokens ?? 0,
  })
}
