import type { Token } from './tokens.ts'

const questionWords = new Set(['what', 'who', 'where', 'when', 'why', 'which', 'how'])
const verbs = new Set(['is', 'are', 'was', 'were'])
const settings = new Set(['in', 'on', 'at', 'for', 'with', 'using', 'during', 'since', 'under', 'by'])
const ways = new Set(['from', 'to'])
/** Words of a setting at the beginning of a question. */
const longestSetting = 6

/**
 * The words of a question in one of the orders that say the same. Only what keeps its meaning wherever it stands is moved, as word
 * order tells who bites whom.
 */
export function inOneOrder(tokens: readonly Token[]): readonly string[] {
  return inOneWay(inverted(settingLast(tokens)))
}

/** "In Python, how do I sort" ends with its setting. */
function settingLast(tokens: readonly Token[]): readonly string[] {
  const texts = tokens.map(({ text }) => text)
  if (!settings.has(texts[0] ?? '')) return texts
  const end = tokens.findIndex(({ pauses }, at) => pauses || questionWords.has(texts[at + 1] ?? ''))
  if (end < 1 || end >= longestSetting || end === texts.length - 1) return texts
  return [...texts.slice(end + 1), ...texts.slice(0, end + 1)]
}

/** "The capital is what" and "what the capital is" begin like "what is the capital". */
function inverted(texts: readonly string[]): readonly string[] {
  const [first = '', beforeLast = '', last = ''] = [texts[0], texts.at(-2), texts.at(-1)]
  if (texts.length < 3) return texts
  if (questionWords.has(last) && verbs.has(beforeLast)) return [last, beforeLast, ...texts.slice(0, -2)]
  if (questionWords.has(first) && verbs.has(last)) return [first, last, ...texts.slice(1, -1)]
  return texts
}

/** One way from and to, whichever is named first. */
function inOneWay(texts: readonly string[]): readonly string[] {
  const starts = texts.flatMap((text, at) => (ways.has(text) ? [at] : []))
  if (starts.length !== 2) return texts
  const [one, other] = starts as [number, number]
  if (texts[one] === texts[other] || texts[one] === 'from') return texts
  return [...texts.slice(0, one), ...texts.slice(other), ...texts.slice(one, other)]
}
