import { type Finder, findAll } from './find-all.ts'
import type { PersonalFinding } from './personal-entities.ts'

/** Most names that it looks for beyond the places that introduce them. */
const most = 200

/**
 * Finds names wherever they stand, once the same request introduces them: `My name is Ada Lovelace` makes a name of every `Ada
 * Lovelace`, `Ada` and `Lovelace`. Words that are more often no names are left alone.
 */
export function toldNames(
  texts: readonly string[],
  nameFinders: readonly Finder<PersonalFinding>[],
): Finder<PersonalFinding> | undefined {
  const names = new Set<string>()
  for (const text of texts) {
    for (const { start, end } of findAll(nameFinders, text)) {
      const name = text
        .slice(start, end)
        .replace(/^\p{L}{2,8}\.? (?=\p{Lu})(?<=(?:Mrs?|Ms|Dr|Prof)\.? )/u, '')
      for (const part of [name, ...name.split(' ')]) if (isTelling(part) && names.size < most) names.add(part)
    }
  }
  if (names.size === 0) return undefined
  // Names are of letters, blanks, hyphens and apostrophes: nothing that means something in a pattern.
  const longestFirst = [...names].sort((a, b) => b.length - a.length)
  const sought = new RegExp(`(?<![\\p{L}\\d])(?:${longestFirst.join('|')})(?![\\p{L}\\d])`, 'gu')
  return (text, from) => {
    sought.lastIndex = from
    const match = sought.exec(text)
    return match ? { start: match.index, end: sought.lastIndex, type: 'name' } : undefined
  }
}

const words =
  /^(?:Mr|Mrs|Ms|Dr|Prof|Will|Mark|May|April|June|August|Rose|Grace|Hope|Faith|Joy|Bill|Jack|Art|Frank|Grant|Chase|Summer|Young|Long|White|Black|Brown|Green|Gray|Stone|Hill|King|Price|Day|Page|Field|Wood|Woods|Rich|Best|Love|Small|Little|Good|Major|Team|Support|Customer|Sir|Madam)$/

const isTelling = (part: string): boolean => part.length > 2 && /^\p{Lu}/u.test(part) && !words.test(part)
