import { classes, classOf } from './characters.ts'
import { tokenRates, usualRates } from './rates.ts'
import { encodingOf, type Tokenizer } from './tokenizer.ts'

export interface Estimator extends Tokenizer {
  /** Texts together, rounded up at the end. */
  countAll(texts: readonly string[]): number
  /** What a piece of a text adds to it: not rounded, so that pieces add up. */
  weigh(piece: string): number
}

/** Of texts that are longer together, this many characters are looked at, in pieces from all over them. */
const looked = 4096
const piece = 256

/**
 * Estimates without a vocabulary, and at once: by what the characters of a text take on average of the model's vocabulary.
 * Long texts take no longer than 4,096 characters do.
 */
export function estimatorOf(model: string): Estimator {
  const encoding = encodingOf(model)
  const rates = encoding ? tokenRates[encoding === 'o200k_harmony' ? 'o200k_base' : encoding] : usualRates
  const weights = Float64Array.from(classes, (name) => rates[name])
  const countAll = (texts: readonly string[]): number => {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    const share = length <= looked ? 1 : looked / length
    return Math.ceil(texts.reduce((sum, text) => sum + weighShare(text, share, weights), 0))
  }
  return {
    name: 'estimate',
    published: false,
    count: (text) => countAll([text]),
    countAll,
    weigh: (piece) => weighPart(piece, 0, piece.length, weights),
  }
}

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
