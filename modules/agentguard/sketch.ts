import { hash } from 'node:crypto'
import { wordsOf } from '#kit'

/** Fewer words are too common to say anything. */
const fewestWords = 10
/** Of a longer text the beginning is compared. */
const mostWords = 1000
const shingle = 3
const size = 64

/**
 * What is kept of a text to find others that are nearly the same: the smallest hashes of its sequences of three words (bottom-k
 * sketches, Broder 1997). The text cannot be had back. Undefined for a text that is too short.
 */
export function sketchOf(text: string): number[] | undefined {
  const words = wordsOf(text).slice(0, mostWords)
  if (words.length < fewestWords) return undefined
  const hashes = new Set<number>()
  for (let at = 0; at + shingle <= words.length; at += 1)
    hashes.add(hash('sha1', words.slice(at, at + shingle).join(' '), 'buffer').readUInt32BE())
  return [...hashes].sort((a, b) => a - b).slice(0, size)
}

/** The share of their sequences that two texts have in common, about. */
export function likeness(a: readonly number[], b: readonly number[]): number {
  const union = [...new Set([...a, ...b])].sort((x, y) => x - y).slice(0, Math.max(a.length, b.length))
  const [inA, inB] = [new Set(a), new Set(b)]
  return union.filter((one) => inA.has(one) && inB.has(one)).length / Math.max(1, union.length)
}
