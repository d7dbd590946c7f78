import type { WireUsage as CanonicalUsage } from '#kernel'
import type { WireUsage } from './wire.ts'

/**
 * Usage in the canonical form: the units that are paid for, and beside them what the model read and wrote. Tokens that
 * Cohere adds to a prompt itself cost nothing.
 */
export function canonicalUsage({
  tokens,
  billed_units: billed,
  cached_tokens: cached,
}: WireUsage): CanonicalUsage {
  const prompt = billed?.input_tokens ?? tokens?.input_tokens ?? 0
  const completion = billed?.output_tokens ?? tokens?.output_tokens ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: Math.min(prompt, cached) } }),
    ...(billed && { billed_units: billed }),
    ...(tokens && { tokens }),
  }
}
