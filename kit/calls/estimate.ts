import type { Estimator } from '../../contract/token-counting.ts'
import { type CharacterClass, classes, classOf } from '../text/characters.ts'

/** Tokens that a character of each class takes. */
export type TokenRates = Readonly<Record<CharacterClass, number>>

/** For models whose vocabulary is not known: the mean of those that are. */
const usualRates: TokenRates = {
  space: 0.172,
  letter: 0.246,
  digit: 0.997,
  sign: 0.411,
  accented: 1.3,
  greek: 0.621,
  cyrillic: 0.379,
  hebrew: 0.705,
  arabic: 0.505,
  devanagari: 0.706,
  indic: 1.075,
  thai: 0.6,
  hangul: 0.833,
  kana: 0.773,
  han: 0.876,
  other: 1.189,
}

/** In pieces of so many characters texts are looked at that are longer together than what is looked at. */
const piece = 256

/**
 * Estimates without a vocabulary, and at once: by what the characters of a text take on average. Of texts that are longer together
 * than `looked` characters so many are looked at, all over them, so that long texts take no longer.
 */
export function estimatorOf(rates: TokenRates = usualRates, looked = 4096): Estimator {
  const weights = Float64Array.from(classes, (name) => rates[name])
  return {
    countAll(texts) {
      const length = texts.reduce((sum, text) => sum + text.length, 0)
      const share = length <= looked ? 1 : looked / length
      return Math.ceil(texts.reduce((sum, text) => sum + weighShare(text, share, weights), 0))
    },
    weigh: (piece) => weighPart(piece, 0, piece.length, weights),
  }
}

const usual = estimatorOf()

/** A rough count of texts, by their script, at once and whatever their length. Mark what is computed with it. */
export const estimateTokens = (texts: string | readonly string[]): number =>
  usual.countAll(typeof texts === 'string' ? [texts] : texts)

/** Weighs a share of a text, in pieces of equal distance, and takes it for the whole. */
function weighShare(text: string, share: number, weights: Float64Array): number {
  if (share === 1 || text === '') return weighPart(text, 0, text.length, weights)
  const seen = Math.ceil(text.length * share)
  const pieces = Math.ceil(seen / piece)
  const size = Math.ceil(seen / pieces)
  let sum = 0
  for (let i = 0; i < pieces; i++) {
    const from = Math.floor(((text.length - size) * (i + 0.5)) / pieces)
    sum += weighPart(text, from, from + size, weights)
  }
  return (sum / (size * pieces)) * text.length
}

function weighPart(text: string, from: number, to: number, weights: Float64Array): number {
  let sum = 0
  for (let i = from; i < to; i++) sum += weights[classOf[text.charCodeAt(i)]!]!
  return sum
}
