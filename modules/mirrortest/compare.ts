import type { Completion } from '#kernel'
import { answerStructure, answerTexts, similarity } from '#kit'

/** What two answers to the same request have in common. */
export interface Comparison {
  /** From 0 to 1, by words. */
  readonly similarity: number
  /** Characters of the second for one of the first; undefined when the first has none. */
  readonly length_ratio?: number
  /** Whether both are JSON, or call functions, with the same fields of the same types; undefined for other answers. */
  readonly structure?: 'same' | 'different'
}

export function compare(source: Completion, mirror: Completion): Comparison {
  const [first, second] = [textOf(source), textOf(mirror)]
  const structure = structuresOf(source, mirror)
  return {
    similarity: similarity(first, second),
    ...(first.length > 0 && { length_ratio: second.length / first.length }),
    ...(structure && { structure }),
  }
}

export const textOf = (body: Completion): string => answerTexts(body).join('\n')

function structuresOf(source: Completion, mirror: Completion): Comparison['structure'] {
  const [first, second] = [answerStructure(source), answerStructure(mirror)]
  if (first === undefined && second === undefined) return undefined
  return first === second ? 'same' : 'different'
}
