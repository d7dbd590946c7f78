/**
 * Reasoning on the canonical side: a client must send it back unchanged for the model to go on with it. `index` is the place of
 * the block in its message, `format` names the signer.
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

/** Says of a detail that Claude signed it: it is worth the same wherever Claude runs, and nothing elsewhere. */
export const claudeReasoning = 'anthropic-claude-v1'

/** A signature that names its format, which stands before the first dot. */
const marked = /^([a-z]+(?:-[a-z]+)*-v\d+)\.(.+)$/s

/**
 * A signature that says in what format it is: some wires carry signatures and nothing else of whose they are. Claude's
 * stay bare, so that Claude's own clients have them as they were.
 */
export const markedSignature = (format: string, signature: string): string =>
  format === claudeReasoning ? signature : `${format}.${signature}`

/** The signature of a detail, bare, if it was in this format; undefined when another model signed it, or none. */
export function signatureIn(
  { signature, format: said }: Pick<ReasoningDetail, 'signature' | 'format'>,
  format: string,
): string | undefined {
  if (!signature) return undefined
  const [, made, bare] = marked.exec(signature) ?? []
  if (made !== undefined) return made === format ? bare : undefined
  return said === undefined || said === format ? signature : undefined
}

/** Tokens to think with, by effort, for models that take a number. */
export const thinkingBudgets: ReadonlyMap<string, number> = new Map(
  Object.entries({
    none: 0,
    minimal: 1024,
    low: 2048,
    medium: 8192,
    high: 24_576,
    xhigh: 32_768,
    max: 32_768,
  }),
)

/** The smallest budget that Claude takes. */
export const leastThinkingBudget = 1024

/**
 * Blocks of an assistant's turn in the order in which they came, as far as that is known: those whose place is
 * known stand there, the rest fills what is between them.
 */
export function inPlace<T>(
  placed: readonly { readonly index: number; readonly blocks: readonly T[] }[],
  rest: readonly T[],
): T[] {
  const blocks: T[] = []
  const waiting = [...rest]
  for (const { index, blocks: own } of placed.toSorted((a, b) => a.index - b.index)) {
    blocks.push(...waiting.splice(0, Math.max(0, index - blocks.length)), ...own)
  }
  return [...blocks, ...waiting]
}
