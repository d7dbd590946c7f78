const control = (id: number, content: string) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
})

const letters = ['h', 'e', 'l', 'o', '▁', 'w', 'r', 'd', 'u', 's']
const merges = [
  ['h', 'e'],
  ['l', 'l'],
  ['he', 'll'],
  ['hell', 'o'],
  ['▁', 'w'],
  ['▁w', 'o'],
  ['▁wo', 'r'],
]
const bytes = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
)
/** A `tokenizer.json` of merges: "hello world" is `hello`, `▁wor`, `l` and `d`. */
export const bpe = {
  version: '1.0',
  added_tokens: [control(1000, '<s>'), control(1001, '<|user|>'), control(1002, '<|model|>')],
  normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: {
    type: 'BPE',
    byte_fallback: true,
    vocab: Object.fromEntries(
      [...letters, ...merges.map((merge) => merge.join('')), ...bytes].map((token, id) => [token, id]),
    ),
    merges,
  },
}
export const tokensOfBpe = letters.length + merges.length + bytes.length + bpe.added_tokens.length

/** A `tokenizer.json` of pieces and their scores: "hello world" is `▁hello` and `▁world`. */
export const unigram = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  post_processor: null,
  decoder: null,
  model: {
    type: 'Unigram',
    unk_id: 0,
    vocab: [
      ['<unk>', 0],
      ['▁', -3],
      ['▁hello', -4],
      ['▁he', -5],
      ['llo', -5.5],
      ['l', -6],
      ['o', -6.1],
      ['▁world', -4.5],
    ],
  },
}
