import type { Call } from '#kernel'
import { vendorWords } from './vendors.ts'

/** Characters of the longest name that is looked for. */
const longestName = 128

/** Characters of the longest text that a pattern of names matches, with what it looks at behind it. */
export const longestMatch = longestName + 64

/** Words of the longest text that a pattern of names matches. */
export const mostWords = 4

/** A name that is also a word of a language, such as `together`, is none in a text. */
const isTelling = (name: string): boolean => /[\d/:-]/.test(name)

/** The names of the providers and models that a call was sent to. */
export const targetsOf = ({ trace }: Call): string[] => [
  ...new Set(trace.attempts.flatMap(({ provider, model }) => [provider, ...partsOf(model)])),
]

/** Names that would tell the reader of an answer's text who gave it. */
export function tellingNames(call: Call, words: readonly string[]): string[] {
  const targets = targetsOf(call)
  const known = vendorWords(targets)
  const own = targets.filter((name) => isTelling(name) || vendorWords([name]).length === 0)
  return [...words, ...known, ...own.filter((name) => name.length > 1)]
}

/** `meta-llama/Llama-3-8B` may be called by its last part alone. */
function partsOf(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  return last === model ? [model] : [model, last]
}

/** A version or a size after a name: `GPT-4o`, `Claude 3.5 Sonnet`. Bounded, as what matches must be shorter than `longestMatch`. */
const version =
  '(?:[- ]?\\d[\\p{L}\\p{N}]{0,8}(?:[._:-][\\p{L}\\p{N}]{1,12}){0,3})?(?:[- ](?:sonnet|opus|haiku|turbo|pro|flash|mini|nano|large|small))?'

/** The pattern that finds names as whole words in any letter case, with a version after them. Undefined without names. */
export function namePattern(names: readonly string[]): RegExp | undefined {
  const parts = [...new Set(names)]
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.slice(0, longestName).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  if (parts.length === 0) return undefined
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})${version}(?![\\p{L}\\p{N}])`, 'giu')
}
