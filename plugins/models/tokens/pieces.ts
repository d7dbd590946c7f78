import { Tokenizer } from '@huggingface/tokenizers'
import { countParts } from './bounded.ts'
import { readShipped, type ShippedPieces, shippedPieces } from './shipped.ts'
import type { VocabularyCount } from './vocabulary.ts'

/** The mark for a space in SentencePiece's vocabularies. */
const space = '▁'
/** No piece goes on behind a word, so words are merged apart, which is much faster, and remembered. */
const word = `${space}*[^${space}]+|${space}+`

/**
 * Opens a vocabulary of SentencePiece's that came with the gateway: a file of pieces, one a line, the likeliest first. Two
 * neighbours become one wherever a piece is made of them; what no piece has is bytes.
 */
export async function openPieces(name: ShippedPieces): Promise<VocabularyCount> {
  const { control } = shippedPieces[name]
  const pieces = (await readShipped(`${name}.pieces.br`)).split('\n')
  const bytes = Array.from({ length: 256 }, (_, byte) => byteToken(byte))
  const tokenizer = new Tokenizer(
    {
      version: '1.0',
      added_tokens: [],
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'Prepend', prepend: space },
          { type: 'Replace', pattern: { String: ' ' }, content: space },
        ],
      },
      pre_tokenizer: { type: 'Split', pattern: { Regex: word }, behavior: 'Isolated', invert: false },
      post_processor: null,
      decoder: null,
      model: {
        type: 'BPE',
        byte_fallback: true,
        vocab: Object.fromEntries([...bytes, ...pieces].map((token, id) => [token, id])),
        merges: mergesOf(pieces),
      },
    },
    {},
  )
  const count = (text: string): number => (text === '' ? 0 : tokenizer.encode(text).ids.length)
  return { count, countPrompt: (prompt) => countParts(prompt, control, count) }
}

const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`

/** Every pair of pieces that makes another, in the order of what they make. */
function mergesOf(pieces: readonly string[]): [string, string][] {
  const ranks = new Map(pieces.map((piece, rank) => [piece, rank]))
  return pieces.flatMap((piece) => {
    const characters = [...piece]
    const pairs = characters.slice(1).map((_, i): [string, string] => {
      return [characters.slice(0, i + 1).join(''), characters.slice(i + 1).join('')]
    })
    return pairs.filter((pair) => pair.every((part) => ranks.has(part)))
  })
}
