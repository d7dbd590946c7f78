import type { Completion } from '../canonical/forms.ts'

/** A vector, as numbers or in base64, as it was asked for. */
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

/** The cosine of two vectors, from -1 to 1; 0 for vectors that cannot be compared. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return 0
  let [product, ofA, ofB] = [0, 0, 0]
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i]!, b[i]!]
    product += x * y
    ofA += x * x
    ofB += y * y
  }
  const similarity = product / Math.sqrt(ofA * ofB)
  return Number.isFinite(similarity) ? Math.min(1, Math.max(-1, similarity)) : 0
}
