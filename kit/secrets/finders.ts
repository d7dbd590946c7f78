import type { Finder, Finding } from '../detection/find-all.ts'
import { formFinder } from '../detection/form.ts'
import { patternFinder } from '../detection/pattern.ts'
import { tagged } from '../detection/text-guard.ts'
import { longForm, type Rule, secretReach, usualSecretLength } from './rules.ts'
import { isWord } from './survey.ts'

/** A credential in a text. */
export interface Secret extends Finding {
  /** Its kind, such as `github_token`. */
  readonly label: string
}

/** A pattern of the operator's own. */
export interface SecretPattern {
  readonly label: string
  readonly pattern: string
}

/** The finder for the secrets of a rule. */
export const ruleFinder = ({ label, ...form }: Rule): Finder<Secret> => tagged(formFinder(form), { label })

/** The finder for the secrets of an operator's pattern, which runs on an engine without backtracking. */
export const customFinder = ({ label, pattern }: SecretPattern): Finder<Secret> =>
  tagged(patternFinder(pattern, usualSecretLength), { label })

/** Whether a pattern can only match within a word: then no more than the last word is held back for it. */
export const matchesWithinWord = ({ pattern }: SecretPattern): boolean =>
  /^(?:[\w\-{},()|?+*]|\\[bd]|\[[\w-]+\])+$/.test(pattern)

/**
 * From where on a secret may still be coming: the last word, no more of it than a secret is usually long, unless it
 * begins like one of the long ones; or a private key. The `held` last characters in any case.
 */
export function secretOpenFrom(text: string, from: number, held = 0): number {
  const first = Math.max(from, text.length - secretReach)
  let at = text.length
  while (at > first && isWord(text.charCodeAt(at - 1))) at -= 1
  if (text.length - at > usualSecretLength) at += longFrom(text.slice(at))
  const key = text.lastIndexOf('-----BEGIN ')
  if (key >= first && key < at && isOpenKey(text.slice(key))) at = key
  return Math.max(from, Math.min(at, text.length - held))
}

/** From where in a word longer than usual a secret may still be coming. */
function longFrom(word: string): number {
  const usual = word.length - usualSecretLength
  const long = word.search(longForm)
  return long === -1 ? usual : Math.min(long, usual)
}

/** Whether a text is how a private key may begin: its first line, what is said about it, some of it, some of its end. */
function isOpenKey(text: string): boolean {
  const [header] = /^-----BEGIN [A-Z\d ]{0,50}-{0,5}/.exec(text)!
  if (header.length === text.length) return true
  if (!/PRIVATE KEY(?: BLOCK)?-----$/.test(header)) return false
  const lines = text.slice(header.length).split(/\r?\n|\\n/)
  return lines.every((line, n) => (n < 8 && aboutKey.test(line)) || partOfKey.test(line))
}

const aboutKey = /^[A-Z][\w-]{0,20}(?::.{0,101})?$/
const partOfKey = /^[A-Za-z\d+/=\s\\]*(?:-[A-Z\d -]{0,60})?$/
