import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

export type ShippedVocabulary = 'qwen' | 'deepseek-v3' | 'tekken'
export type ShippedPieces = 'mistral-32k'

interface VocabularyFacts {
  /** How texts are cut before bytes are merged, one expression after the other, as the maker's file has them. */
  readonly split: readonly string[]
  readonly normalizer: object | null
  /** Tokens that stand for themselves in a prompt. */
  readonly control: RegExp
}

/** What the vocabularies in `shipped` need beside their merges; `shipped/NOTICE` says where they are from. */
export const shippedVocabularies: Readonly<Record<ShippedVocabulary, VocabularyFacts>> = {
  qwen: {
    split: [
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    ],
    normalizer: { type: 'NFC' },
    control: /<\|(?:endoftext|im_start|im_end)\|>|<\/?(?:tool_call|tool_response|think)>/,
  },
  'deepseek-v3': {
    split: [
      '\\p{N}{1,3}',
      '[一-龥぀-ゟ゠-ヿ]+',
      '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
    ],
    normalizer: null,
    control: /<｜(?:begin▁of▁sentence|end▁of▁sentence|User|Assistant)｜>|<\/?think>/,
  },
  tekken: {
    split: [
      '[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
    ],
    normalizer: null,
    control: /<\/?s>|\[\/?(?:INST|SYSTEM_PROMPT)\]/,
  },
}

/** Mistral's first vocabulary, as it is in versions 1 to 7 of its format: later ones have only other control tokens. */
export const shippedPieces: Readonly<Record<ShippedPieces, Pick<VocabularyFacts, 'control'>>> = {
  'mistral-32k': { control: /<\/?s>|\[\/?(?:INST|SYSTEM_PROMPT)\]/ },
}

const decompress = promisify(brotliDecompress)

/** The text of a file in `shipped` that is compressed. */
export async function readShipped(name: string): Promise<string> {
  return (await decompress(await readFile(new URL(`./shipped/${name}`, import.meta.url)))).toString('utf8')
}
