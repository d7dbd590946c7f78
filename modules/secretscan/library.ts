import { rules } from '@secretlint/secretlint-rule-preset-recommend'
import { tooLarge } from '#kernel'
import type { Finder } from '#kit'
import type { Secret } from './finders.ts'
import { longest } from './rules.ts'

/** What a rule of the library is driven with; the part of its interface that rules over text use. */
interface RuleContext {
  readonly sharedOptions: object
  createTranslator(): (messageId: string) => string
  report(found: { readonly message: string; readonly range: readonly [number, number] }): void
  ignore(): void
}

interface RuleCreator {
  readonly meta: { readonly id: string }
  create(context: RuleContext, options: object): { file(source: object): unknown }
}

/**
 * Rules that do not look at text (`gcp`), that comments in the text can switch off (`filter-comments`), or that look
 * across words, where ours do: `aws` reports another place than the secret's, `privatekey` wants the end of the key.
 */
const leftOut = /-(?:aws|gcp|privatekey|filter-comments)$/
const acrossWords = new Set(['PackageJSON_xOauthToken', 'Npmrc_authToken'])

/** The rules of secretlint's recommended preset that find secrets within one word. */
export class Library {
  #found: Secret[] = []
  readonly #rules: { file(source: object): unknown }[]

  constructor() {
    const context: RuleContext = {
      sharedOptions: {},
      createTranslator: () => (messageId) => messageId,
      report: ({ message, range: [start, end] }) => {
        if (!acrossWords.has(message)) this.#found.push({ start, end, label: labelOf(message) })
      },
      ignore: () => {},
    }
    this.#rules = (rules as readonly RuleCreator[])
      .filter(({ meta }) => !leftOut.test(meta.id))
      .map((rule) => rule.create(context, {}))
  }

  /**
   * Finds in one text, which it reads once. Throws a coded error when that takes longer than `budget` has left: the
   * expressions are the library's, and a text may be made to be slow with them.
   */
  finder(budget: Budget): Finder<Secret> {
    let found: readonly Secret[] | undefined
    return (text, from) => {
      found ??= this.#read(text, wordStart(text, from), budget)
      return found.find(({ start }) => start >= from)
    }
  }

  #read(text: string, from: number, budget: Budget): readonly Secret[] {
    const found: Secret[] = []
    for (let start = from; start < text.length; ) {
      const end = partEnd(text, start)
      const suspects = suspectsIn(text.slice(start, end))
      if (suspects.words.length > 0) {
        const began = performance.now()
        for (const secret of this.#readPart(suspects.text)) {
          const at = start + originOf(suspects, secret.start)
          found.push({ ...secret, start: at, end: wordEnd(text, at, at + secret.end - secret.start) })
        }
        budget.ms -= performance.now() - began
        if (budget.ms < 0)
          throw tooLarge('The text takes too long to be searched for secrets; send less of it.')
      }
      start = end
    }
    return found.sort((a, b) => a.start - b.start)
  }

  #readPart(content: string): readonly Secret[] {
    this.#found = []
    for (const rule of this.#rules)
      rule.file({ content, filePath: '', ext: '', contentType: 'text', hasBOM: false })
    return this.#found
  }
}

/** What is left of the time that a call may take to search. */
export interface Budget {
  ms: number
}

/** Secrets are of ASCII without blanks. */
export const isWord = (code: number): boolean => code > 0x20 && code < 0x7f

/** Where the word around an index begins. */
function wordStart(text: string, at: number): number {
  let start = at
  while (start > 0 && isWord(text.charCodeAt(start - 1))) start -= 1
  return start
}

/** Where the word that begins at `start` ends, `end` at the latest. */
function wordEnd(text: string, start: number, end: number): number {
  let at = start + 1
  while (at < end && isWord(text.charCodeAt(at))) at += 1
  return at
}

/** The words of a text that may be or hold a secret, each on a line of its own. */
interface Suspects {
  readonly text: string
  /** Where each begins, here and in the text it is from. */
  readonly words: readonly { readonly at: number; readonly origin: number }[]
}

/**
 * Ordinary words are left out, which is most of most texts, before dozens of expressions look at them: no credential
 * is short, and none is of lower case letters alone unless it stands in an address.
 */
function suspectsIn(text: string): Suspects {
  const words: { at: number; origin: number }[] = []
  let lines = ''
  for (const { 0: word, index } of text.matchAll(/[!-~]{10,}/g)) {
    if (!/\d|:\/\/|[a-z][A-Z]|[A-Z]{3}/.test(word)) continue
    lines += '\n'
    words.push({ at: lines.length, origin: index })
    lines += word
  }
  return { text: lines, words }
}

function originOf({ words }: Suspects, at: number): number {
  const word = words.findLast((candidate) => candidate.at <= at)!
  return word.origin + at - word.at
}

const partLength = 64 * 1024

/** Where a part of about 64 thousand characters ends, not inside a word. */
function partEnd(text: string, start: number): number {
  if (text.length - start <= partLength + longest) return text.length
  let end = start + partLength
  while (end > start + partLength - longest && isWord(text.charCodeAt(end - 1))) end -= 1
  return end
}

/** `AWSSecretKey` and `GITHUB_TOKEN` become `aws_secret_key` and `github_token`. */
const labelOf = (messageId: string): string =>
  messageId.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$&_').toLowerCase()
