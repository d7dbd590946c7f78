/**
 * Reasoning on the canonical side: what a client must send back unchanged for the model to go on with it. `index` is
 * the place of the block in its message, `format` says who has signed it.
 */
export interface ReasoningDetail {
  readonly type: string
  readonly format?: string
  readonly index?: number
  readonly text?: string
  readonly signature?: string
  readonly data?: string
}

/**
 * The details with the pieces of each block put together: clients of a stream may send back the list of what came, piece
 * by piece.
 */
export function mergedDetails(details: unknown): ReasoningDetail[] {
  const merged: ReasoningDetail[] = []
  for (const detail of Array.isArray(details) ? (details as readonly ReasoningDetail[]) : []) {
    const last = merged.at(-1)
    if (last && isPieceOf(detail, last)) {
      merged[merged.length - 1] = { ...last, ...detail, text: (last.text ?? '') + (detail.text ?? '') }
    } else merged.push(detail)
  }
  return merged
}

/** A block that has its signature is complete. */
const isPieceOf = (detail: ReasoningDetail, { type, index, format, signature }: ReasoningDetail): boolean =>
  type === 'reasoning.text' &&
  detail.type === type &&
  detail.index !== undefined &&
  detail.index === index &&
  detail.format === format &&
  !signature
