/** A word or a sign of a question, and whether a pause follows it: a comma or the end of a sentence or line. */
export interface Token {
  readonly text: string
  readonly pauses: boolean
}

/** Fenced code, code, quotations and new lines stay as they are; everything else is what stands between spaces. */
const pieces =
  /```[\s\S]*?```|`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}])|\n\s*|[^\s"“„«`]+|["“„«`]/gu
const endsOfSentences = '.,;:!?…。！？、，；：'
const trailing = new RegExp(`[${endsOfSentences}]+$`, 'u')
/** A word whose letter case says nothing: small, capitalised, or capitals throughout. */
const plainWord = /^(?:\p{Lu}?[\p{Ll}\p{Lo}\p{M}’-]+|[\p{Lu}\p{Lo}\p{M}’-]+)$/u

/**
 * Words that are something else with a capital letter: `Polish` and `polish`, `US` and `us`. They keep theirs, except at the
 * beginning of a question.
 */
const twoMeanings = new Set(
  `aids amazon apple art august bill china drew faith frank gap go grace hope it jack job march mark may mobile nice
  orange pet polish reading rich rose shell sue target turkey us who will windows word`.split(/\s+/),
)

/** Reads a question. Letter case and punctuation at the end of words go, unless they may mean something. */
export function tokensOf(question: string): Token[] {
  const text = question.normalize('NFC').replaceAll('’', "'").trim()
  const shouts = !/\p{Ll}/u.test(text)
  const tokens: Token[] = []
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.includes('\n') && piece.trim() === '') tokens.push(lineOf(piece))
    else tokens.push(...wordsOf(piece, shouts, tokens.length === 0))
  }
  const last = tokens.at(-1)
  return last && isPause(last.text) ? tokens.slice(0, -1) : tokens
}

/** A line keeps its indentation: in code and lists it means something. */
const lineOf = (piece: string): Token => ({
  text: `\n${piece.slice(piece.lastIndexOf('\n') + 1)}`,
  pauses: true,
})

function wordsOf(piece: string, shouts: boolean, isFirst: boolean): Token[] {
  if (piece.length > 1 && /^['"“„«`]/u.test(piece)) return [{ text: quotation(piece), pauses: false }]
  if (isPause(piece)) return [{ text: piece, pauses: true }]
  const bare = piece.replace(/^[¿¡]+/u, '')
  const word = /[\p{N})]!+$/u.test(bare) ? bare : bare.replace(trailing, '')
  const words = parted(cased(word, shouts, isFirst))
  return words.map((text, at) => ({ text, pauses: at === words.length - 1 && word !== bare }))
}

const isPause = (piece: string): boolean => piece.replace(trailing, '') === ''

/** Quotation marks of all kinds are one; code stays code. */
const quotation = (piece: string): string => (piece.startsWith('`') ? piece : `"${piece.slice(1, -1)}"`)

function cased(word: string, shouts: boolean, isFirst: boolean): string {
  const small = word.toLowerCase()
  const [stem = ''] = small.split("'", 1)
  if (!plainWord.test(word.replaceAll("'", ''))) return word
  // A letter by itself is a name, as of a vitamin.
  if (/^[A-HJ-Z]$/.test(word) && !shouts && !isFirst) return word
  if (shouts || !twoMeanings.has(stem)) return small
  const isCapital = /^\p{Lu}/u.test(word)
  const isSentenceStart = isFirst && !/^\p{Lu}{2}/u.test(word)
  return isCapital && !isSentenceStart ? word : small
}

const shortForms: Readonly<Record<string, string>> = {
  "'m": 'am',
  "'re": 'are',
  "'ve": 'have',
  "'ll": 'will',
}
const beforeIs = new Set(['what', 'who', 'where', 'how', 'when', 'why', 'that', 'it', 'there', 'here'])

/** The words of an English short form. */
function parted(word: string): string[] {
  if (word === "can't" || word === 'cannot') return ['can', 'not']
  if (word === "won't") return ['will', 'not']
  if (word.endsWith("n't")) return [word.slice(0, -3), 'not']
  const at = word.lastIndexOf("'")
  if (at <= 0) return [word]
  const [head, tail] = [word.slice(0, at), word.slice(at)]
  if (tail === "'s" && beforeIs.has(head)) return [head, 'is']
  const long = shortForms[tail]
  return long === undefined ? [word] : [head, long]
}
