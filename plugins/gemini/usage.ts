import { fromWireUsage, type Usage, type WireUsage } from '#kernel'
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
      audio_tokens: tokensOf(usage.promptTokensDetails, 'AUDIO'),
      image_tokens: tokensOf(usage.promptTokensDetails, 'IMAGE'),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: tokensOf(usage.candidatesTokensDetails, 'AUDIO'),
    },
  }
}

function tokensOf(details: readonly ModalityCount[] | undefined, modality: string): number {
  return details?.find((detail) => detail.modality === modality)?.tokenCount ?? 0
}

/** The usage that `wireUsageOf` made, by classes. */
export function usageOf(reported: WireUsage): Usage {
  const images = reported.prompt_tokens_details?.image_tokens
  return { ...fromWireUsage(reported), imageIn: typeof images === 'number' ? images : 0 }
}
