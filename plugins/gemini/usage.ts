import type { WireUsage } from '#kernel'
import type { ModalityCount, UsageMetadata } from './wire.ts'

/**
 * Usage in the canonical form. The prompt's count includes what was cached, but not what tools of the provider's own
 * brought in; the candidates' count is without thoughts.
 */
export function wireUsageOf(usage: UsageMetadata): WireUsage {
  const prompt = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0)
  const reasoning = usage.thoughtsTokenCount ?? 0
  const completion = (usage.candidatesTokenCount ?? 0) + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cachedContentTokenCount ?? 0,
      audio_tokens: freshOf(usage, 'AUDIO'),
      image_tokens: freshOf(usage, 'IMAGE'),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: tokensOf(usage.candidatesTokensDetails, 'AUDIO'),
    },
  }
}

/** Of the prompt, and not of its cached part: each token is of one class. */
const freshOf = (usage: UsageMetadata, modality: string): number =>
  Math.max(0, tokensOf(usage.promptTokensDetails, modality) - tokensOf(usage.cacheTokensDetails, modality))

function tokensOf(details: readonly ModalityCount[] | undefined, modality: string): number {
  if (!Array.isArray(details)) return 0
  return details.find((detail: ModalityCount | null) => detail?.modality === modality)?.tokenCount ?? 0
}
