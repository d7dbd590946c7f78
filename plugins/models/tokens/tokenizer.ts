import type { ModelRequest } from '#kernel'
import { type TokenizerEntry, tokenizers, type Vocabulary } from '../catalogue/tokenizers.ts'

/** Counts the tokens of texts for one family of models. */
export interface Tokenizer {
  /** `o200k_base`, `qwen`, or `estimate`. */
  readonly name: string
  /** Whether it is the one that the maker of the model has published; an estimate is to be marked wherever it shows. */
  readonly published: boolean
  count(text: string): number
  /**
   * Tokens of a conversation, put together as the model's maker has published it; undefined where that is not known, or
   * does not carry what is in it.
   */
  conversation?(request: ModelRequest): Conversation | undefined
}

export interface Conversation {
  readonly tokens: number
  /** Of the tokens: definitions of tools. */
  readonly tools: number
}

/** The facts of a model's tokenizer; undefined when none is published, or it is not known which. */
export function tokenizerEntryOf(model: string): TokenizerEntry | undefined {
  const bare = model.toLowerCase().replace(/^.*\//, '').replace(/^ft:/, '')
  return tokenizers.find(({ models }) => models.test(bare))
}

/** The name of a model's published vocabulary; undefined when there is none that is known. */
export const encodingOf = (model: string): Vocabulary | undefined => tokenizerEntryOf(model)?.vocabulary
