import type { Completion, WireUsage } from '#kernel'
import type { Vector } from '#kit'

/** An answer with these vectors and this usage; `like` gives its other fields. */
export const answerWith = (like: Completion, vectors: readonly Vector[], usage: WireUsage): Completion => ({
  ...like,
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  usage,
})

/** The bytes that a vector takes in memory. */
export const bytesOf = (vector: Vector): number =>
  typeof vector === 'string' ? vector.length : 8 * vector.length

/** The usage of an answer that no provider was asked for. */
export const noTokens: WireUsage = { prompt_tokens: 0, total_tokens: 0 }

/** The part of an input in the tokens of its batch, by its length: providers count the batch as a whole. */
export function shareOf(usage: WireUsage | null | undefined, length: number, all: number): WireUsage {
  const tokens = Math.round(((usage?.prompt_tokens ?? 0) * length) / Math.max(1, all))
  return { prompt_tokens: tokens, total_tokens: tokens }
}
