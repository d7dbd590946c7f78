import type { WireUsage } from '#kernel'

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

/** Usage in the wire's terms: what was thought does not count among the candidates' tokens. */
export function nativeUsage(usage: WireUsage) {
  const prompt = count(usage.prompt_tokens)
  const completion = count(usage.completion_tokens)
  const thoughts = Math.min(completion, count(usage.completion_tokens_details?.reasoning_tokens))
  const cached = count(usage.prompt_tokens_details?.cached_tokens)
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - thoughts,
    totalTokenCount: prompt + completion,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  }
}
