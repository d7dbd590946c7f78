import type { WireUsage } from '#kernel'

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

/** Usage in the wire's terms; null while, and where, the provider reports none. */
export function nativeUsage(usage: WireUsage | null | undefined) {
  if (!usage) return null
  const input = count(usage.prompt_tokens)
  const output = count(usage.completion_tokens)
  return {
    input_tokens: input,
    input_tokens_details: {
      ...usage.prompt_tokens_details,
      cached_tokens: count(usage.prompt_tokens_details?.cached_tokens),
    },
    output_tokens: output,
    output_tokens_details: {
      ...usage.completion_tokens_details,
      reasoning_tokens: count(usage.completion_tokens_details?.reasoning_tokens),
    },
    total_tokens: count(usage.total_tokens) || input + output,
  }
}
