import { outsideQuotes } from './prose.ts'

/** Phrases that say nothing, and long ones with the short ones that say the same. English only. */
const phrases: readonly (readonly [phrase: string, short: string])[] = [
  ['i would like you to', ''],
  ["i'd like you to", ''],
  ['i want you to', ''],
  ['i need you to', ''],
  ['could you please', ''],
  ['can you please', ''],
  ['would you please', ''],
  ['would you kindly', ''],
  ['your task is to', ''],
  ['please note that', ''],
  ['it is important to note that', ''],
  ['it should be noted that', ''],
  ['please make sure to', ''],
  ['please be sure to', ''],
  ['make sure to', ''],
  ['be sure to', ''],
  ['feel free to', ''],
  ['as you can see,', ''],
  ['needless to say,', ''],
  ['basically,', ''],
  ['thank you in advance.', ''],
  ['thank you in advance!', ''],
  ['thank you in advance', ''],
  ['thanks in advance.', ''],
  ['thanks in advance!', ''],
  ['thanks in advance', ''],
  ['if you would be so kind', ''],
  ['please', ''],
  ['kindly', ''],
  ['in order to', 'to'],
  ['so as to', 'to'],
  ['due to the fact that', 'because'],
  ['in spite of the fact that', 'although'],
  ['in the event that', 'if'],
  ['at this point in time', 'now'],
  ['at the present time', 'now'],
  ['for the purpose of', 'for'],
  ['with regard to', 'about'],
  ['with respect to', 'about'],
  ['in the process of', ''],
  ['a large number of', 'many'],
  ['the majority of', 'most'],
  ['has the ability to', 'can'],
  ['is able to', 'can'],
  ['are able to', 'can'],
  ['as well as', 'and'],
  ['until such time as', 'until'],
  ['on a regular basis', 'regularly'],
]

const shortOf = new Map(phrases)
const longestFirst = phrases.map(([phrase]) => phrase).sort((a, b) => b.length - a.length)
/** Behind “to” and the like, “please” is what somebody does. */
const known = new RegExp(
  `(?<![\\w'-]|\\b(?:to|will|would|can|may|must) )(${longestFirst.join('|').replaceAll('.', '\\.')})(?![\\w'-])`,
  'gi',
)

/** A line without phrases that say nothing. Where one began a sentence, the word behind it begins it. */
export const withoutPhrases = (line: string): string => outsideQuotes(line, shortened)

function shortened(part: string): string {
  let text = ''
  let end = 0
  let isCapital = false
  function add(more: string): void {
    text += isCapital ? more.charAt(0).toUpperCase() + more.slice(1) : more
    if (more !== '') isCapital = false
  }
  for (const { 0: phrase, index } of part.matchAll(known)) {
    const short = shortOf.get(phrase.toLowerCase())!
    add(part.slice(end, index))
    end = index + phrase.length
    isCapital ||= /^[A-Z]/.test(phrase)
    if (short !== '') add(short)
    else while (part[end] === ' ') end += 1
  }
  add(part.slice(end))
  return text
}
