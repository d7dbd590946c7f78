import { createRequire } from 'node:module'
import type { Finder } from '../detection/find-all.ts'
import { tooLarge } from '../errors.ts'
import type { Secret } from './finders.ts'
import type { Survey, Word } from './survey.ts'

/** The context that a rule of the library runs in; the part of its interface that rules for text use. */
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

/** Loaded with the first search: a gateway without any starts without it. */
const load = (): { readonly rules: readonly RuleCreator[] } =>
  createRequire(import.meta.url)('@secretlint/secretlint-rule-preset-recommend')

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
    this.#rules = load()
      .rules.filter(({ meta }) => !leftOut.test(meta.id))
      .map((rule) => rule.create(context, {}))
  }

  /**
   * Finds in one text, of which it reads the suspects, once. Throws a coded error when that takes longer than `budget`
   * has left: the expressions are the library's, and a text may be made to be slow with them.
   */
  finder({ suspects }: Survey, budget: SearchBudget): Finder<Secret> {
    let found: readonly Secret[] | undefined
    return (text, from) => {
      found ??= this.#read(text, suspects, budget)
      return found.find(({ start }) => start >= from)
    }
  }

  #read(text: string, parts: Survey['suspects'], budget: SearchBudget): readonly Secret[] {
    const found: Secret[] = []
    for (const words of parts) {
      const began = performance.now()
      const lines = new Lines(text, words)
      for (const { start, end, label } of this.#readPart(lines.text))
        found.push({ ...lines.origin(start, end), label })
      budget.ms -= performance.now() - began
      if (budget.ms < 0)
        throw tooLarge('The text takes too long to be searched for secrets; send less of it.')
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

/** The rest of the time that a call may take to search. */
export interface SearchBudget {
  ms: number
}

/** Words of a text, each on a line of its own. */
class Lines {
  readonly text: string
  readonly #words: readonly Word[]
  /** Where each line begins. */
  readonly #starts: number[] = []

  constructor(text: string, words: readonly Word[]) {
    this.#words = words
    let lines = ''
    for (const { start, end } of words) {
      lines += '\n'
      this.#starts.push(lines.length)
      lines += text.slice(start, end)
    }
    this.text = lines
  }

  /** Where in the text a part of a line stands. */
  origin(start: number, end: number): Word {
    const n = this.#starts.findLastIndex((begin) => begin <= start)
    const word = this.#words[n]!
    const at = word.start + start - this.#starts[n]!
    return { start: at, end: Math.min(word.end, at + end - start) }
  }
}

/** `AWSSecretKey` and `GITHUB_TOKEN` become `aws_secret_key` and `github_token`. */
const labelOf = (messageId: string): string =>
  messageId.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$&_').toLowerCase()
