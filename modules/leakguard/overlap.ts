import { areNear, type PromptWord, wordsFrom } from './prompt-words.ts'

/** A part of an answer that stands in the prompt. */
export interface Repetition {
  readonly start: number
  readonly end: number
}

/** Places of a word in the prompt that are followed: one that is all over it says nothing. */
const mostPlaces = 256
/** Words of a prompt that are looked for. */
const mostWords = 50_000

/** Finds where an answer repeats a prompt word by word, forwards or written backwards. */
export class Overlap {
  /** The words of the prompt, and of its reverse; an empty one parts them. */
  readonly #words: readonly string[]
  readonly #places = new Map<string, number[]>()
  /** Each word once, in order. */
  readonly #sorted: readonly string[]

  constructor(prompt: string) {
    const listed = (text: string) =>
      wordsFrom(text)
        .slice(0, mostWords)
        .map(({ word }) => word)
    this.#words = [...listed(prompt), '', ...listed(reversed(prompt))]
    for (const [place, word] of this.#words.entries()) {
      const places = this.#places.get(word)
      if (!places) this.#places.set(word, [place])
      else if (places.length < mostPlaces) places.push(place)
    }
    this.#sorted = [...this.#places.keys()].sort()
  }

  /** The first part of a text from a place on that repeats more tokens than allowed: up to the word with which it does. */
  find(text: string, from: number, allowed: number): Repetition | undefined {
    const words = wordsFrom(text, from)
    let runs = new Map<number, Run>()
    for (const [n, word] of words.entries()) {
      runs = this.#extended(runs, word, words[n - 1])
      for (const { start, tokens } of runs.values()) if (tokens > allowed) return { start, end: word.end }
    }
    return undefined
  }

  /** Where the repetition begins that the end of a text is in, the last word of which may go on; its length without one. */
  openFrom(text: string, from: number): number {
    const words = wordsFrom(text, from)
    const last = words.at(-1)
    if (!last) return text.length
    let runs = new Map<number, Run>()
    for (const [n, word] of words.slice(0, -1).entries()) runs = this.#extended(runs, word, words[n - 1])
    const before = words.at(-2)
    let open = this.#mayBegin(last.word) ? last.start : text.length
    if (!before || !areNear(before, last)) return open
    for (const [place, { start }] of runs)
      if (this.#words[place + 1]?.startsWith(last.word)) open = Math.min(open, start)
    return open
  }

  /** The repetitions that go on with a word or begin with it, by their places in the prompt. */
  #extended(
    runs: ReadonlyMap<number, Run>,
    word: PromptWord,
    before: PromptWord | undefined,
  ): Map<number, Run> {
    const next = new Map<number, Run>()
    const goesOn = before !== undefined && areNear(before, word)
    for (const place of this.#places.get(word.word) ?? []) {
      const run = goesOn ? runs.get(place - 1) : undefined
      next.set(place, { start: run?.start ?? word.start, tokens: (run?.tokens ?? 0) + word.tokens })
    }
    return next
  }

  /** Whether a word of the prompt begins like this. */
  #mayBegin(part: string): boolean {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! < part) low = middle + 1
      else high = middle
    }
    return this.#sorted[low]?.startsWith(part) ?? false
  }
}

interface Run {
  readonly start: number
  readonly tokens: number
}

export const reversed = (text: string): string => [...text].reverse().join('')
