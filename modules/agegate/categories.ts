import { z } from 'zod'
import { type Finder, findAll, formFinder, lastWords, patternFinder, patternSchema, tagged } from '#kit'
import { type Audience, audiences } from './audience.ts'
import { builtIn, builtInCategories, longestOf, termPattern, wordsIn } from './terms.ts'

/** Of longer matches of a pattern, so many characters count. */
const longestPattern = 200

export const category = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a name such as horror_films')

const byAudience = (defaults: readonly string[], who: string) =>
  z
    .array(category)
    .max(100)
    .default([...defaults])
    .meta({ title: who, description: `Blocked for a ${who}.` })

export const blocked = z.strictObject({
  child: byAudience(builtInCategories, 'child'),
  teen: byAudience(['sexual', 'violence', 'self_harm', 'drugs', 'weapons', 'gambling'], 'teen'),
  adult: byAudience([], 'adult'),
})

export const definition = z.strictObject({
  words: z.array(z.string().trim().min(2).max(100)).max(1000).default([]).meta({
    title: 'Words',
    description: 'Words and phrases, in any letter case. `*` at the end stands for any ending.',
  }),
  patterns: z.array(patternSchema.min(1).max(1000)).max(100).default([]).meta({
    title: 'Patterns',
    description: 'RE2 expressions. Of longer matches, the first 200 characters count.',
  }),
})

type Definitions = Readonly<Record<string, z.infer<typeof definition>>>
export type Found = NonNullable<ReturnType<Finder>> & { readonly label: string }

/** The search for the categories of an audience. */
export interface Search {
  /** Characters of the longest finding. */
  readonly reach: number
  find(text: string, from: number): Found[]
  /** The first place, at `from` or later, at which text to come could still make a finding. */
  open(text: string, from: number): number
}

/** The categories that a setting names and nothing defines. */
export function undefinedIn(wanted: z.infer<typeof blocked>, definitions: Definitions): string[] {
  const known = new Set([...builtInCategories, ...Object.keys(definitions)])
  return [...new Set(audiences.flatMap((audience) => wanted[audience]))].filter((name) => !known.has(name))
}

/** One search for each audience; undefined for one that nothing is blocked for. */
export function searchFor(
  audience: Audience,
  wanted: z.infer<typeof blocked>,
  definitions: Definitions,
): Search | undefined {
  const finders: Finder<Found>[] = []
  let reach = 0
  let words = 1
  let hasPatterns = false
  for (const label of new Set(wanted[audience])) {
    const { words: own = [], patterns = [] } = Object.hasOwn(definitions, label) ? definitions[label]! : {}
    const terms = [...(Object.hasOwn(builtIn, label) ? builtIn[label as keyof typeof builtIn] : []), ...own]
    if (terms.length > 0) finders.push(tagged(formFinder({ pattern: termPattern(terms) }), { label }))
    for (const pattern of patterns)
      finders.push(tagged(patternFinder(pattern, longestPattern + 1), { label }))
    const longest = Math.max(...terms.map(longestOf), patterns.length > 0 ? longestPattern : 0)
    // One character more, of two units at the most, shows where a word ends.
    reach = Math.max(reach, longest + 2)
    words = Math.max(words, ...terms.map(wordsIn))
    hasPatterns ||= patterns.length > 0
  }
  if (finders.length === 0) return undefined
  return {
    reach,
    find: (text, from) => findAll(finders, text, from),
    open: (text, from) => (hasPatterns ? Math.max(from, text.length - reach) : lastWords(words, text, from)),
  }
}
