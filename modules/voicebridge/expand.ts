import { german } from './languages/de.ts'
import { english } from './languages/en.ts'
import type { Words } from './languages/words.ts'
import { Numbers } from './numbers.ts'

/** The languages that signs are spoken in. Of texts in others, only the Markdown goes. */
export const spokenLanguages = ['en', 'de'] as const
export type SpokenLanguage = (typeof spokenLanguages)[number]

const words: Readonly<Record<SpokenLanguage, Words>> = { en: english, de: german }
const numbers: Readonly<Record<SpokenLanguage, Numbers>> = {
  en: new Numbers(english),
  de: new Numbers(german),
}

/** Placeholders of `maskmode`, which the client gets values for. */
const mask = /(\[[A-Z]{1,40}_[A-Z0-9]{4,12}\])/
/** What is left of Markdown and other markup, and pictures. */
const unspoken =
  /[*_`#~|<>[\]{}\\^$]+|={2,}|-{2,}|[\ufe0f\u20e3]|\p{Regional_Indicator}|\p{Extended_Pictographic}(?:\ufe0f|\u200d|\p{Emoji_Modifier})*/gu
/** Marks of footnotes and sources. */
const reference = /\s?\[(?:\^[\w-]{1,40}|\d{1,3}(?:, ?\d{1,3})*)\]:?/g

/** What is said in place of a block of code. */
export const codeIn = (language: SpokenLanguage | undefined): string => words[language ?? 'en'].code

/** A sentence as one says it; empty where there is nothing to say. */
export function speakable(text: string, language: SpokenLanguage | undefined): string {
  const said = text
    .replace(reference, '')
    .split(mask)
    .map((part, at) => (at % 2 === 1 ? part : bare(language ? inWords(part, language) : part)))
    .join('')
    .replace(/\s+/g, ' ')
    .replace(/ +([.,;:!?…)])/g, '$1')
    .replace(/\( +/g, '(')
    .replace(/\(\)/g, '')
    .trim()
  if (!/[\p{L}\p{N}]/u.test(said)) return ''
  return /[.!?…:;。！？][)"'”’»」』]*$/.test(said) ? said : `${said.replace(/,$/, '')}.`
}

function inWords(text: string, language: SpokenLanguage): string {
  const { abbreviations, symbols } = words[language]
  let said = text
  for (const [sign, by] of abbreviations) said = said.replace(sign, by as string)
  said = numbers[language].spoken(said)
  for (const [sign, by] of symbols) said = said.replace(sign, by)
  return said
}

const bare = (text: string): string => text.replace(unspoken, ' ')
