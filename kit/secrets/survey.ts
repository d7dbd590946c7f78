import { secretReach } from './rules.ts'

/** A word of a text that may be or hold a secret. */
export interface Word {
  readonly start: number
  readonly end: number
}

/** The results of one pass over a text, before dozens of expressions look at it. */
export interface Survey {
  /** Words that may hold what the library finds, in parts of about 64 thousand characters; without empty parts. */
  readonly suspects: readonly (readonly Word[])[]
  /** Whether any word is what a credential is like: long, and not of lower case letters and punctuation alone. */
  readonly mayHold: boolean
}

/** Secrets are of ASCII without blanks. */
export const isWord = (code: number): boolean => code > 0x20 && code < 0x7f

const lower = 1
const upper = 2
const digit = 4
const colon = 8
const sign = 16

/** The kind of each character; of those that end sentences or hold quotes, only the colon has a kind. */
const kinds = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z]/.test(character)) return lower
  if (/[A-Z]/.test(character)) return upper
  if (/\d/.test(character)) return digit
  return character === ':' ? colon : /[.,;!?'"()]/.test(character) ? 0 : sign
})

/** Shortest credential in one word, of those rules that are not `anywhere`. */
const shortCredential = 15
/** Shortest one that may be of lower case letters alone. */
const shortPlainCredential = 40
/** Shortest secret that the library finds. */
const shortSuspect = 10

/** Surveys the words of a text, from the one around `from` on. */
export function surveyed(text: string, from: number): Survey {
  const suspects: Word[][] = []
  let mayHold = false
  for (let start = wordStart(text, from); start < text.length; ) {
    const end = partEnd(text, start)
    const words: Word[] = []
    for (let at = start; at < end; at += 1) {
      const begin = at
      let seen = 0
      for (let code = text.charCodeAt(at); at < end && isWord(code); code = text.charCodeAt(at)) {
        seen |= kinds[code]!
        at += 1
      }
      const length = at - begin
      if (length < shortSuspect) continue
      if (isSuspect(text, begin, at, seen)) words.push({ start: begin, end: at })
      mayHold ||=
        length >= shortPlainCredential || (length >= shortCredential && (seen & (upper | digit | sign)) !== 0)
    }
    if (words.length > 0) suspects.push(words)
    start = end
  }
  return { suspects, mayHold }
}

/** No credential is without letters, and none is of lower case letters alone unless it stands in an address. */
function isSuspect(text: string, start: number, end: number, seen: number): boolean {
  if ((seen & digit) !== 0) return (seen & (lower | upper)) !== 0
  return (seen & (upper | colon)) !== 0 && /:\/\/|[a-z][A-Z]|[A-Z]{3}/.test(text.slice(start, end))
}

/** Where the word around an index begins. */
function wordStart(text: string, at: number): number {
  let start = at
  while (start > 0 && isWord(text.charCodeAt(start - 1))) start -= 1
  return start
}

const partLength = 64 * 1024

/** Where a part of about 64 thousand characters ends, not inside a word. */
function partEnd(text: string, start: number): number {
  if (text.length - start <= partLength + secretReach) return text.length
  let end = start + partLength
  while (end > start + partLength - secretReach && isWord(text.charCodeAt(end - 1))) end -= 1
  return end
}
