import { createHash } from 'node:crypto'

/** A vector that depends on the text and nothing else. */
export function vectorOf(text: string, length: number): number[] {
  const seed = createHash('shake256', { outputLength: length }).update(text).digest()
  return Array.from(seed, (byte) => byte / 256 - 0.5)
}
