import type { Vocabulary } from '../catalogue/tokenizers.ts'
import { countBounded } from './bounded.ts'
import { openMerges } from './merges.ts'
import { openPieces } from './pieces.ts'

/** Counts with one vocabulary. */
export interface VocabularyCount {
  /** Tokens of a text; a text like a control token counts as text. */
  count(text: string): number
  /** Tokens of a whole prompt, control tokens among them; absent where no form of prompts is published. */
  countPrompt?(prompt: string): number
}

/** Loads a vocabulary, which takes some tenths of a second. */
export async function openVocabulary(name: Vocabulary): Promise<VocabularyCount> {
  switch (name) {
    case 'o200k_base':
      return openAi(await import('gpt-tokenizer/encoding/o200k_base'))
    case 'o200k_harmony':
      return openAi(await import('gpt-tokenizer/encoding/o200k_harmony'))
    case 'cl100k_base':
      return openAi(await import('gpt-tokenizer/encoding/cl100k_base'))
    case 'llama3':
      return llama3()
    case 'mistral-32k':
      return openPieces(name)
    default:
      return openMerges(name)
  }
}

function openAi({ countTokens }: typeof import('gpt-tokenizer/encoding/o200k_base')): VocabularyCount {
  const plain = { disallowedSpecial: new Set<string>() }
  return { count: (text) => countBounded(text, (part) => countTokens(part, plain)) }
}

async function llama3(): Promise<VocabularyCount> {
  const { default: tokenizer } = await import('llama3-tokenizer-js')
  const bare = { bos: false, eos: false }
  const countPrompt = (text: string): number => tokenizer.encode(text, bare).length
  // It reads control tokens in every text, unless they are cut; a cut may add a token.
  const count = (text: string): number =>
    text.split(/(?<=<)(?=\|\w+\|>)/).reduce((sum, part) => sum + countPrompt(part), 0)
  return { count, countPrompt }
}
