import { Tokenizer } from '@huggingface/tokenizers'
import { countParts } from './bounded.ts'
import { byteAlphabet } from './bytes.ts'
import { readShipped, type ShippedVocabulary, shippedVocabularies } from './shipped.ts'
import type { VocabularyCount } from './vocabulary.ts'

/** Opens a vocabulary that came with the gateway: a file of merges, one a line, in their order. */
export async function openMerges(name: ShippedVocabulary): Promise<VocabularyCount> {
  const { split, normalizer, control } = shippedVocabularies[name]
  const merges = (await readShipped(`${name}.merges.br`)).split('\n')
  const tokens = [...byteAlphabet(), ...merges.map((merge) => merge.replace(' ', ''))]
  const tokenizer = new Tokenizer(
    {
      version: '1.0',
      added_tokens: [],
      normalizer,
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          ...split.map((Regex) => ({
            type: 'Split',
            pattern: { Regex },
            behavior: 'Isolated',
            invert: false,
          })),
          { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
        ],
      },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: merges.map((merge) => merge.split(' ')),
        ignore_merges: true,
      },
    },
    {},
  )
  const count = (text: string): number => (text === '' ? 0 : tokenizer.encode(text).ids.length)
  return { count, countPrompt: (prompt) => countParts(prompt, control, count) }
}
