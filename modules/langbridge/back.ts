import type { Call } from '#kernel'
import type { ContentWriter, LanguageDetector } from '#kit'
import { wordsOf } from './kept.ts'
import { type Passage, Passages } from './passages.ts'
import { toldLanguage } from './told.ts'
import { type Fault, type Translator, Untranslated } from './translator.ts'

/** Characters of an answer that one translation is asked for at the most. */
const most = 4000

export interface BackOptions {
  readonly translator: Translator
  readonly languageOf: LanguageDetector
  /** The working language, in which the answer is expected. */
  readonly from: string
  /** The language of the user. */
  readonly to: string
  readonly call: Call
  /** Told of each part that stays as it is for a fault. */
  failed(fault: Fault): void
}

/** Translates an answer as it comes: what one read brought at once, in whole sentences. Code goes on without waiting. */
export class BackTranslation implements ContentWriter {
  readonly #options: BackOptions
  readonly #passages = new Passages()
  #isOver = false

  constructor(options: BackOptions) {
    this.#options = options
  }

  push(text: string): Promise<readonly string[]> {
    return this.#written(this.#passages.push(text))
  }

  end(text: string): Promise<readonly string[]> {
    return this.#written(this.#passages.end(text))
  }

  async #written(passages: readonly Passage[]): Promise<string[]> {
    const parts: string[] = []
    for (const group of groupsOf(passages)) parts.push(await this.#part(group))
    return parts
  }

  /** In the language of the user; as it is where it is in another language than expected, as when the user asked for that. */
  async #part(passages: readonly Passage[]): Promise<string> {
    const { translator, languageOf, from, to, call, failed } = this.#options
    const text = passages.map(({ text }) => text).join('')
    const prose = passages.flatMap(({ kind, text }) => (kind === 'prose' ? [text] : [])).join('')
    if (this.#isOver || !/\p{L}/u.test(wordsOf(prose))) return text
    const told = toldLanguage(prose, languageOf)
    if (told !== undefined && told !== from) return text
    try {
      return await translator.translate(passages, from, to, call)
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error
      failed(error.fault)
      // A translator that fails is not waited for again and again.
      this.#isOver = error.fault === 'failed'
      return text
    }
  }
}

function* groupsOf(passages: readonly Passage[]): Generator<Passage[]> {
  let group: Passage[] = []
  let length = 0
  for (const passage of passages) {
    if (length + passage.text.length > most && group.length > 0) {
      yield group
      group = []
      length = 0
    }
    group.push(passage)
    length += passage.text.length
  }
  if (group.length > 0) yield group
}
