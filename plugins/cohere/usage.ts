import { type WireUsage as CanonicalUsage, noUsage, type Usage } from '#kernel'
import type { WireUsage } from './wire.ts'

/** Usage in the canonical form: what the model read and wrote, and beside it the units that are paid for. */
export function canonicalUsage({ tokens, billed_units: billed, cached_tokens }: WireUsage): CanonicalUsage {
  const prompt = tokens?.input_tokens ?? billed?.input_tokens ?? 0
  const completion = tokens?.output_tokens ?? billed?.output_tokens ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
    ...(billed && { billed_units: billed }),
  }
}

/** Usage by classes, as it is billed: tokens that Cohere adds to a prompt itself cost nothing. */
export function usageOf(reported: CanonicalUsage): Usage {
  const billed = reported.billed_units as WireUsage['billed_units']
  const input = billed?.input_tokens ?? reported.prompt_tokens
  return {
    ...noUsage,
    input,
    output: billed?.output_tokens ?? reported.completion_tokens ?? 0,
    cachedRead: Math.min(input, reported.prompt_tokens_details?.cached_tokens ?? 0),
    source: 'provider',
  }
}
