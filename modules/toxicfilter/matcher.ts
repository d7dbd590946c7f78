import { LRUCache } from 'lru-cache'
import type { WordCategory } from './words.ts'
import { fromLibrary, further, harmless, starred, wordCategories } from './words.ts'

/** Finds the category of a word; undefined for most words. */
export type WordTest = (word: string) => WordCategory | undefined

/** Words whose category is kept at hand: most words of a text come again. */
const mostKept = 20_000

/** Loads the list of words, and puts it together with those of the operator, which count as profanity. */
export async function wordTest(
  wanted: readonly WordCategory[],
  own: readonly string[],
  allowed: readonly string[],
): Promise<WordTest> {
  const { RegExpMatcher, englishDataset, englishRecommendedTransformers, parseRawPattern } = await import(
    'obscenity'
  )
  const library = englishDataset.build()
  const categories = new Map<number, WordCategory>()
  const blacklistedTerms: { id: number; pattern: ReturnType<typeof parseRawPattern> }[] = []
  const add = (category: WordCategory, pattern: ReturnType<typeof parseRawPattern>): void => {
    categories.set(blacklistedTerms.length, category)
    blacklistedTerms.push({ id: blacklistedTerms.length, pattern })
  }
  for (const category of wanted) {
    for (const { id, pattern } of library.blacklistedTerms) {
      const { originalWord = '' } =
        englishDataset.getPayloadWithPhraseMetadata({
          termId: id,
          startIndex: 0,
          endIndex: 0,
          matchLength: 0,
        }).phraseMetadata ?? {}
      if (fromLibrary[category].includes(originalWord)) add(category, pattern)
    }
    for (const term of further[category]) add(category, parseRawPattern(once(term)))
  }
  const matcher = new RegExpMatcher({
    blacklistedTerms,
    whitelistedTerms: [...(library.whitelistedTerms ?? []), ...harmless],
    ...englishRecommendedTransformers,
  })
  const ownWords = new Set(own.map(plain))
  const allowedWords = new Set(allowed.map(plain))
  const known = new LRUCache<string, WordCategory | false>({ max: mostKept })

  const look = (word: string): WordCategory | false => {
    for (const reading of readingsOf(word)) {
      if (allowedWords.has(reading)) return false
      if (ownWords.has(reading)) return 'profanity'
      const stars = starredOut(reading, wanted)
      if (stars) return stars
      const [match] = matcher.getAllMatches(reading, true)
      if (match) return categories.get(match.termId)!
    }
    return false
  }
  return (word) => {
    let category = known.get(word)
    if (category === undefined) {
      category = look(word)
      known.set(word, category)
    }
    return category || undefined
  }
}

/** The library reads all double letters as single ones, but for these six. */
const once = (term: string): string => term.replace(/([^beolsg|[\]])\1/g, '$1')

const plain = (word: string): string =>
  word
    .normalize('NFKD')
    .replace(/[\p{M}\p{DI}]/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')

/** A word as it may be meant: as it is written, with signs for letters, and with what stands between single letters left out. */
function readingsOf(word: string): readonly string[] {
  const written = plain(word)
  const letters = written.replace(/[!$@013457+€|]/g, (sign) => signs[sign]!)
  const joined = /^[\p{L}\p{N}](?:[^\p{L}\p{N}]+[\p{L}\p{N}]){2,}$/u.test(letters)
    ? letters.replace(/[^\p{L}\p{N}]/gu, '')
    : letters
  return [...new Set([written, letters, joined, joined.replaceAll('ph', 'f')])]
}

const signs: Readonly<Record<string, string>> = {
  '!': 'i',
  $: 's',
  '@': 'a',
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '+': 't',
  '€': 'e',
  '|': 'i',
}

/** The category of a word some of whose letters are stars: its first letter, its last one and its length must be those. */
function starredOut(word: string, wanted: readonly WordCategory[]): WordCategory | undefined {
  if (!/^\p{L}[\p{L}*#•]*[*#•][\p{L}*#•]*\p{L}$/u.test(word)) return undefined
  const form = new RegExp(`^${word.replace(/[*#•]/g, '\\p{L}')}$`, 'u')
  return wordCategories.find(
    (category) => wanted.includes(category) && starred[category].some((one) => form.test(one)),
  )
}
