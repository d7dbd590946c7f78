import { readAsLatin, withoutStyle } from '#kit'
import { type Concept, lexicon } from './lexicon.ts'

/** A word, or a phrase, that means something to the guard. */
export interface Word {
  readonly concepts: ReadonlySet<Concept>
  /** Which word of the text it is. The end of a sentence counts as some words. */
  readonly at: number
  /** Where it stands, in characters. */
  readonly start: number
  readonly end: number
}

/** What a word or the beginning of a word means. */
interface Meaning {
  readonly whole: Set<Concept>
  readonly prefix: Set<Concept>
}

/** A phrase: its words behind the first, each with whether any ending will do. */
interface Phrase {
  readonly rest: readonly { readonly stem: string; readonly isPrefix: boolean }[]
  readonly concept: Concept
}

/** Lower case, without accents, hidden characters and style, so that ways of writing do not matter. */
export const fold = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
  /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : withoutStyle(text)
        .normalize('NFKD')
        .replace(/[\p{M}\p{DI}]/gu, '')
        .replace(/[ıł’ß]/g, (letter) => plain[letter]!)
        .toLowerCase()

const plain: Readonly<Record<string, string>> = { ı: 'i', ł: 'l', '’': "'", ß: 'ss' }

const dense = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}]/u
const token = /[\p{L}\p{M}\p{N}\p{DI}](?:[\p{L}\p{M}\p{N}\p{DI}]|['’_-](?=\p{L}))*|[.!?。！？\n;:]+/gu
/** Words that the end of a sentence counts for. */
const sentence = 3
/** A longer word is none. */
const longest = 40

const meanings = new Map<string, Meaning>()
const phrases = new Map<string, Phrase[]>()
const inside = new Map<string, Set<Concept>>()
for (const [concept, entries] of Object.entries(lexicon) as [Concept, string][])
  for (const entry of new Set(entries.trim().split(/\s+/))) enter(concept, entry)

const denseWord = new RegExp([...inside.keys()].sort((a, b) => b.length - a.length).join('|'), 'g')

function enter(concept: Concept, entry: string): void {
  const parts = entry.split('_').map((part) => ({
    stem: fold(part.replace('*', '')),
    isPrefix: part.endsWith('*'),
  }))
  const [first, ...rest] = parts
  if (dense.test(entry)) ensureSet(inside, first!.stem).add(concept)
  else if (rest.length > 0) {
    const known = phrases.get(first!.stem) ?? []
    known.push({ rest, concept })
    phrases.set(first!.stem, known)
  } else {
    const known = meanings.get(first!.stem) ?? { whole: new Set(), prefix: new Set() }
    known[first!.isPrefix ? 'prefix' : 'whole'].add(concept)
    meanings.set(first!.stem, known)
  }
}

function ensureSet(map: Map<string, Set<Concept>>, key: string): Set<Concept> {
  const known = map.get(key) ?? new Set<Concept>()
  map.set(key, known)
  return known
}

/** The words of a text that mean something to the guard, in order. Takes time linear in the text. */
export function wordsIn(text: string): Word[] {
  const found: Word[] = []
  /** Most words of a text come again. */
  const known = new Map<string, ReadonlySet<Concept> | undefined>()
  const last: { folded: string; start: number; at: number }[] = []
  let at = 0
  for (const match of text.matchAll(token)) {
    const [written] = match
    const start = match.index
    if (/^[.!?。！？\n;:]/.test(written)) {
      at += sentence
      continue
    }
    const folded = fold(written)
    if (dense.test(folded)) {
      for (const part of folded.matchAll(denseWord))
        found.push({
          concepts: inside.get(part[0])!,
          at: at + Math.floor(part.index / 2),
          // Folding keeps the length of such scripts, but for rare letters.
          start: Math.min(start + part.index, start + written.length - 1),
          end: Math.min(start + part.index + part[0].length, start + written.length),
        })
      at += Math.ceil(folded.length / 2)
      continue
    }
    at += 1
    last.push({ folded, start, at })
    if (last.length > 6) last.shift()
    const isKnown = known.has(written)
    const concepts = isKnown ? known.get(written) : conceptsOf(folded, written)
    if (!isKnown) known.set(written, concepts)
    const end = start + written.length
    if (concepts) found.push({ concepts, at, start, end })
    addPhrases(found, last, end)
  }
  return found.sort((a, b) => a.at - b.at || a.start - b.start)
}

function conceptsOf(folded: string, written: string): ReadonlySet<Concept> | undefined {
  if (folded.length > longest) return undefined
  const direct = lookUp(folded)
  if (direct || /^[a-z]*$/.test(folded)) return direct
  // Arabic and Hebrew write "and", "so" and the article as the first letter of a word.
  if (/^[\u0590-\u06ff]{4}/.test(folded)) return lookUp(folded.slice(1))
  return lookUp(fold(readAsLatin(written.normalize('NFKC'))))
}

function lookUp(folded: string): ReadonlySet<Concept> | undefined {
  let concepts: Set<Concept> | undefined
  const whole = meanings.get(folded)?.whole
  if (whole?.size) concepts = new Set(whole)
  for (let length = Math.min(folded.length, 14); length > 1; length -= 1) {
    const prefix = meanings.get(folded.slice(0, length))?.prefix
    if (!prefix?.size) continue
    concepts ??= new Set()
    for (const concept of prefix) concepts.add(concept)
  }
  return concepts
}

/** Phrases that end with the last word. */
function addPhrases(
  found: Word[],
  last: readonly { readonly folded: string; readonly start: number; readonly at: number }[],
  end: number,
): void {
  for (let i = Math.max(0, last.length - 6); i < last.length - 1; i += 1) {
    const first = last[i]!
    for (const { rest, concept } of phrases.get(first.folded) ?? []) {
      if (rest.length !== last.length - 1 - i) continue
      const holds = rest.every(({ stem, isPrefix }, n) => {
        const { folded } = last[i + 1 + n]!
        return isPrefix ? folded.startsWith(stem) : folded === stem
      })
      if (holds) found.push({ concepts: new Set([concept]), at: first.at, start: first.start, end })
    }
  }
}
