import type { Concept } from './lexicon.ts'
import { type Word, wordsIn } from './words.ts'

/** A text with the words that mean something, to be asked which of them are near one another. */
export class Passage {
  readonly text: string
  readonly words: readonly Word[]
  readonly #by = new Map<Concept, Word[]>()
  readonly #isForeign: boolean

  constructor(text: string, isForeign = false) {
    this.text = text
    this.#isForeign = isForeign
    this.words = wordsIn(text)
    for (const word of this.words) {
      for (const concept of word.concepts) {
        const known = this.#by.get(concept)
        if (known) known.push(word)
        else this.#by.set(concept, [word])
      }
    }
  }

  of(concept: Concept): readonly Word[] {
    return this.#by.get(concept) ?? none
  }

  /** What says that something is the model's: its possessive, or in a text that does not speak to it, its name. */
  ofModel(word: Word, before: number, behind: number): Word | undefined {
    return (
      this.near(word, 'your', before, behind) ??
      (this.#isForeign ? this.near(word, 'model', before + 6, behind + 4) : undefined)
    )
  }

  /** The nearest word of a concept at most so many words before and behind another; not that word itself. */
  near(word: Word, concept: Concept, before: number, behind: number): Word | undefined {
    const words = this.of(concept)
    let best: Word | undefined
    for (let i = firstAt(words, word.at - before); i < words.length; i += 1) {
      const other = words[i]!
      if (other.at > word.at + behind) break
      if (other.start === word.start) continue
      if (!best || Math.abs(other.at - word.at) < Math.abs(best.at - word.at)) best = other
    }
    return best
  }
}

const none: readonly Word[] = []

/** Where in words, which are in order, the first stands that is not before a place. */
export function firstAt(words: readonly Word[], at: number): number {
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (words[middle]!.at < at) low = middle + 1
    else high = middle
  }
  return low
}
