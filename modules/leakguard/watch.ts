import type { Span } from '#kernel'
import { base64OpenFrom, decodedFrom } from './base64.ts'
import { type Overlap, reversed } from './overlap.ts'
import { longestOf } from './prompt-words.ts'

/** Looks for the system prompt of one call in its answer. */
export class Watch {
  readonly #overlap: Overlap
  readonly #allowed: number
  /** The canary, and the same backwards: letters and digits. */
  readonly #canaries: readonly string[]
  readonly #canary: RegExp | undefined

  constructor(overlap: Overlap, allowed: number, canary: string | undefined) {
    this.#overlap = overlap
    this.#allowed = allowed
    this.#canaries = canary === undefined ? [] : [canary, reversed(canary)]
    this.#canary = canary === undefined ? undefined : new RegExp(this.#canaries.join('|'), 'gi')
  }

  /** The first finding from a place on. */
  scan(text: string, from: number): Span[] {
    const found = [
      this.#canaryIn(text, from),
      this.#overlap.find(text, from, this.#allowed),
      this.#encodedIn(text, from),
    ].filter((span) => span !== undefined)
    if (found.length === 0) return []
    const { start, end } = found.reduce((a, b) => (b.start < a.start ? b : a))
    return [{ start, end, label: 'system_prompt', action: 'block', severity: 'high' }]
  }

  /** From where on text to come may still make a finding. */
  openFrom(text: string, from: number): number {
    const open = Math.min(
      this.#overlap.openFrom(text, from),
      base64OpenFrom(text, reachOf(this.#allowed)),
      ...this.#canaries.map((canary) => endingWithBeginningOf(text, canary)),
    )
    return Math.max(from, open)
  }

  #canaryIn(text: string, from: number): { start: number; end: number } | undefined {
    if (!this.#canary) return undefined
    this.#canary.lastIndex = from
    const match = this.#canary.exec(text)
    return match ? { start: match.index, end: this.#canary.lastIndex } : undefined
  }

  #encodedIn(text: string, from: number): { start: number; end: number } | undefined {
    for (const { text: decoded, start, end } of decodedFrom(text, from))
      if (this.#canaryIn(decoded, 0) ?? this.#overlap.find(decoded, 0, this.#allowed)) return { start, end }
    return undefined
  }
}

/** The longest finding, in characters: base64 has four for three. */
export const reachOf = (allowed: number): number => Math.ceil((longestOf(allowed) * 4) / 3) + 64

/** Where the end of a text begins that is the beginning of another; its length where none is. */
function endingWithBeginningOf(text: string, other: string): number {
  const lower = text.slice(-other.length).toLowerCase()
  for (let length = Math.min(lower.length, other.length - 1); length > 0; length -= 1)
    if (lower.endsWith(other.slice(0, length))) return text.length - length
  return text.length
}
