import type { Vocabulary } from '../catalogue/tokenizers.ts'
import { openTemplate } from './chat-template.ts'
import { estimatorOf } from './estimate.ts'
import { type Tokenizer, tokenizerEntryOf } from './tokenizer.ts'
import { openVocabulary, type VocabularyCount } from './vocabulary.ts'

/**
 * The published tokenizers, by the names of models at whatever provider; the estimate where none is published. Vocabularies
 * are megabytes: each is loaded when a model first needs it, and kept.
 */
export class Tokenizers {
  readonly #vocabularies = new Map<Vocabulary, Promise<VocabularyCount>>()

  async load(model: string): Promise<Tokenizer> {
    const entry = tokenizerEntryOf(model)
    if (!entry) return estimatorOf(model)
    const { vocabulary, chat } = entry
    const open = this.#vocabularies.get(vocabulary) ?? openVocabulary(vocabulary)
    this.#vocabularies.set(vocabulary, open)
    const { count, countPrompt } = await open
    const template = chat && countPrompt && (await openTemplate(chat, countPrompt))
    return { name: vocabulary, published: true, count, ...(template && { conversation: template }) }
  }
}

/** The tokenizer of one model. Keep a `Tokenizers` for several, or for one that is used again: loading takes time. */
export const loadTokenizer = (model: string): Promise<Tokenizer> => new Tokenizers().load(model)
