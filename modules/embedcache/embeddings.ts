import type { Completion, WireUsage } from '#kernel'

/** A vector, as numbers or in base64, as the client asked for it. */
export type Vector = readonly number[] | string

/** The vectors of an answer in the order of its inputs; undefined where it is not one for each of so many inputs. */
export function vectorsOf({ data }: Completion, count: number): readonly Vector[] | undefined {
  if (data?.length !== count) return undefined
  const vectors = new Map<number, Vector>()
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = (item ?? {}) as { index?: number; embedding?: unknown }
    if (isVector(embedding)) vectors.set(index, embedding)
  }
  const inOrder = Array.from({ length: count }, (_, index) => vectors.get(index))
  return inOrder.every((vector) => vector !== undefined) ? inOrder : undefined
}

const isVector = (value: unknown): value is Vector => Array.isArray(value) || typeof value === 'string'

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
