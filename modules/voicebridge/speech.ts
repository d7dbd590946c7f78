import type { ContentWriter, LanguageDetector } from '#kit'
import { codeIn, type SpokenLanguage, speakable, spokenLanguages } from './expand.ts'
import { plainTexts } from './markdown.ts'
import { type Piece, Pieces } from './pieces.ts'

/** Letters from which on a sentence can change the language of the answer. */
const telling = 40

export interface SpeechOptions {
  readonly format: 'text' | 'ssml'
  /** The language at the beginning; undefined for one in which no signs are spoken. */
  readonly language: SpokenLanguage | undefined
  /** Tells the language of sentences; absent where it is fixed. */
  readonly languageOf: LanguageDetector | undefined
}

/** Writes an answer as one says it, sentence by sentence: each part is one sentence, and the same however the answer arrives. */
export class Speech implements ContentWriter {
  readonly #format: SpeechOptions['format']
  readonly #languageOf: LanguageDetector | undefined
  readonly #pieces = new Pieces()
  #language: SpokenLanguage | undefined
  #hasBegun = false

  constructor({ format, language, languageOf }: SpeechOptions) {
    this.#format = format
    this.#language = language
    this.#languageOf = languageOf
  }

  push(text: string): string[] {
    return this.#pieces.push(text).flatMap((piece) => this.#said(piece))
  }

  end(text: string): string[] {
    const parts = this.#pieces.end(text).flatMap((piece) => this.#said(piece))
    if (this.#format === 'ssml') parts.push(this.#hasBegun ? '</speak>' : '<speak></speak>')
    return parts
  }

  #said(piece: Piece): string[] {
    if (piece.kind === 'code') return [this.#written(codeIn(this.#language), true)]
    const texts = plainTexts(piece)
    return texts.flatMap((text, at) => {
      this.#listen(text)
      const said = speakable(text, this.#language)
      return said === '' ? [] : [this.#written(said, piece.isFirst && at === 0)]
    })
  }

  #listen(text: string): void {
    if (!this.#languageOf || (text.match(/\p{L}/gu)?.length ?? 0) < telling) return
    const told = this.#languageOf(text)
    if (told !== undefined) this.#language = spokenLanguages.find((language) => language === told)
  }

  #written(sentence: string, isFirst: boolean): string {
    const opening = this.#hasBegun ? '' : '<speak>'
    const space = !this.#hasBegun ? '' : isFirst ? '\n' : ' '
    this.#hasBegun = true
    return this.#format === 'ssml' ? `${opening}<s>${escaped(sentence)}</s>` : space + sentence
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Without characters that XML forbids. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\ufffe\uffff]/gu, '')
    .replace(/[&<>"']/g, (sign) => entities[sign]!)
