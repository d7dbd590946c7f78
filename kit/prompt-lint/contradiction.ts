import type { Prompt } from './prompt.ts'
import type { Weakness } from './rule.ts'

/** Instructions of which a model can only follow one, in English and German. */
const opposites: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\b(?:be (?:very )?(?:brief|concise|short)|keep (?:it|your (?:answer|response|reply)) (?:brief|short)|in one sentence)\b|\b(?:fasse dich kurz|antworte kurz|in einem satz)\b/i,
    /\b(?:be (?:very )?(?:detailed|thorough|exhaustive)|in (?:great|full) detail|as (?:long|detailed) as possible)\b|\b(?:antworte ausführlich|sehr ausführlich|so ausführlich wie möglich)\b/i,
  ],
  [
    /\b(?:only|nothing but) (?:valid )?json\b|\bjson only\b|\bnur (?:gültiges )?json\b/i,
    /\b(?:use|in|as|format(?:ted)? (?:as|in)) (?:markdown|plain text|xml|yaml|csv)\b|\bexplain your (?:answer|reasoning|choice)\b|\berkläre deine\b/i,
  ],
  [
    /\buse (?:bullet points|bullets|lists|a list)\b|\bverwende (?:listen|stichpunkte)\b/i,
    /\b(?:no|never use|do not use|don't use|without|avoid) (?:bullet points|bullets|lists)\b|\b(?:keine|ohne) (?:listen|stichpunkte)\b/i,
  ],
  [
    /\b(?:be|write|stay|use) (?:a )?formal\b|\bsei förmlich\b/i,
    /\b(?:be|write|stay|use) (?:a )?(?:informal|casual)\b|\bsei (?:locker|salopp)\b/i,
  ],
]

/** `Answer in French`. */
const inLanguage =
  /\b(?:answer|respond|reply|write|speak)(?: only| always)? in (english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese|korean|arabic|turkish|hindi)\b/gi

/** `Always …` and `never …`, with the words that follow. */
const always = /\balways ((?:[\p{L}'-]+ ?){2,4})/giu
const never = /\b(?:never|do not|don't) ((?:[\p{L}'-]+ ?){2,4})/giu

/** One weakness for all instructions that contradict each other, at the first of them. */
export function contradictions({ instructions }: Prompt): Weakness[] {
  const text = instructions.map(({ prose }) => prose).join('\n')
  const languages = new Set(Array.from(text.matchAll(inLanguage), ([, name]) => name!.toLowerCase()))
  const opposed = opposites.filter(([one, other]) => one.test(text) && other.test(text)).length
  const wanted = new Set(beginnings(text, always))
  const forbidden = new Set(beginnings(text, never))
  const count =
    opposed + (languages.size > 1 ? 1 : 0) + [...wanted].filter((one) => forbidden.has(one)).length
  return count > 0 ? [{ at: instructions[0]!.at, count }] : []
}

/** The first two words behind each match: enough to tell one order from another. */
const beginnings = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, words]) =>
    words!.trim().toLowerCase().split(' ').slice(0, 2).join(' '),
  )
