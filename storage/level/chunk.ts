import { compress, decompress } from './compression.ts'
import type { StoredValue } from './group-commit.ts'

/** Marks a body that lies under a key of its own. */
export const apart = Symbol('apart')

/** The body of a row in a chunk: its text, none, or a mark that it lies apart. */
export type BodySlot = string | undefined | typeof apart

/** Bodies of more UTF-16 units than this lie apart, so that reading one body never reads many large ones. */
export const largestInlineBody = 64 * 1024

/**
 * A few rows that are stored under one key: small enough that reading one row of it costs little, large enough that
 * the key costs little. A deleted row leaves an empty line, as rows keep their numbers.
 */
export interface Chunk {
  readonly lines: string[]
  readonly bodies: BodySlot[]
}

/** JSON has no line breaks of its own, so rows are split by them. A damaged chunk has no rows. */
export function encodeLines(lines: readonly string[]): StoredValue {
  return compress(lines, '\n')
}

export function decodeLines(stored: Uint8Array | undefined): string[] {
  return (stored && decompress(stored))?.split('\n') ?? []
}

/** A line of lengths in UTF-16 units (`-` none, `*` apart), then the bodies one after the other. */
export function encodeBodies(slots: readonly BodySlot[]): StoredValue | undefined {
  if (slots.every((slot) => slot === undefined)) return undefined
  const lengths = slots.map((slot) => (slot === undefined ? '-' : slot === apart ? '*' : slot.length))
  return compress([`${lengths.join()}\n`, ...slots.filter((slot) => typeof slot === 'string')])
}

export function decodeBodies(stored: Uint8Array | undefined): BodySlot[] {
  const text = stored && decompress(stored)
  if (text === undefined) return []
  let at = text.indexOf('\n') + 1
  return text
    .slice(0, at - 1)
    .split(',')
    .map((length) => {
      if (length === '-') return undefined
      if (length === '*') return apart
      const start = at
      at += Number(length)
      return text.slice(start, at)
    })
}
