import type { Completion } from '#kernel'
import { answerTexts, orderedJson, parseForeign, similarity } from '#kit'

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
  const [first, second] = [structureIn(source), structureIn(mirror)]
  if (first === undefined && second === undefined) return undefined
  return first === second ? 'same' : 'different'
}

/** The fields and types of an answer that is JSON or calls functions; undefined for prose. */
function structureIn(body: Completion): string | undefined {
  const calls = body.choices?.[0]?.message?.tool_calls ?? []
  if (calls.length > 0) {
    return orderedJson(calls.map(({ function: fn }) => [fn?.name, typeOf(valueIn(fn?.arguments ?? ''))]))
  }
  const value = valueIn(textOf(body).trim().replace(fence, '$1'))
  return typeof value === 'object' && value !== null ? orderedJson(typeOf(value)) : undefined
}

const fence = /^```\w*\n([\s\S]*)\n```$/

/** The type of a value: of an object its fields with their types, of a list the types that occur in it. */
function typeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((item) => orderedJson(typeOf(item))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, typeOf(field)]))
}

function valueIn(json: string): unknown {
  try {
    return parseForeign(json)
  } catch {
    return undefined
  }
}
