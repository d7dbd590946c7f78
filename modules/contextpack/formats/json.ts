import { badRequest } from '#kernel'
import { parseForeign } from '#kit'
import { type Chunk, longest, nameOf, pathOf } from '../chunk.ts'

/** Levels that are taken apart; what lies deeper stays together. */
const deepest = 20

/** The values of a JSON document: each that is short enough stands whole under the names of the fields above it. */
export function* jsonPieces(content: string): Generator<Chunk> {
  yield* piecesOf(parsed(content), [], deepest)
}

function parsed(content: string): unknown {
  try {
    return parseForeign(content)
  } catch {
    throw badRequest('body content: is not JSON. Send it with the format text to keep it as it is.', {
      param: 'content',
    })
  }
}

function* piecesOf(value: unknown, path: readonly string[], levels: number): Generator<Chunk> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isWhole = typeof value !== 'object' || value === null || text.length <= longest.chunk / 2
  if (isWhole || levels === 0) yield { path: pathOf(path), text }
  else if (Array.isArray(value)) for (const item of value) yield* piecesOf(item, path, levels - 1)
  else
    for (const [name, field] of Object.entries(value))
      yield* piecesOf(field, [...path, nameOf(name)], levels - 1)
}
