/** Counts the tokens of texts for one family of models. */
export interface Tokenizer {
  /** `o200k_base`, or `estimate`. */
  readonly name: string
  /** Whether it is the one that the maker of the model has published; an estimate is to be marked wherever it shows. */
  readonly published: boolean
  count(text: string): number
}

/** Four characters a token, for models whose tokenizer nobody has published. */
export const estimator: Tokenizer = {
  name: 'estimate',
  published: false,
  count: (text) => Math.ceil(text.length / 4),
}

type Encoding = 'o200k_base' | 'o200k_harmony' | 'cl100k_base'

/** Which encoding a model has, as OpenAI's tiktoken lists them; the first that matches counts. */
const encodings: readonly (readonly [RegExp, Encoding])[] = [
  [/^gpt-oss-/, 'o200k_harmony'],
  [
    /^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|codex-mini|computer-use-preview|o[134])(?![a-z0-9])/,
    'o200k_base',
  ],
  [/^(gpt-4|gpt-3\.5|gpt-35)(?![a-z0-9.])/, 'cl100k_base'],
  [/^(text-embedding-3-(small|large)|text-embedding-ada-002|davinci-002|babbage-002)$/, 'cl100k_base'],
]

/** The name of a model's published encoding; undefined when there is none that is known. */
export function encodingOf(model: string): Encoding | undefined {
  const bare = model.toLowerCase().replace(/^.*\//, '').replace(/^ft:/, '')
  return encodings.find(([pattern]) => pattern.test(bare))?.[1]
}

/**
 * The tokenizer of a model, by its name at whatever provider; the estimate where none is published. Tables of words
 * are megabytes, and loaded when a model first needs them.
 */
export async function loadTokenizer(model: string): Promise<Tokenizer> {
  const name = encodingOf(model)
  if (name === undefined) return estimator
  const { countTokens } = await load(name)
  const plain = { disallowedSpecial: new Set<string>() }
  return { name, published: true, count: (text) => countBounded(text, (part) => countTokens(part, plain)) }
}

function load(name: Encoding) {
  if (name === 'o200k_base') return import('gpt-tokenizer/encoding/o200k_base')
  if (name === 'o200k_harmony') return import('gpt-tokenizer/encoding/o200k_harmony')
  return import('gpt-tokenizer/encoding/cl100k_base')
}

const longest = 256
const longRun = new RegExp(`\\S{${longest + 1}}`, 'u')
const pieces = new RegExp(`\\s*\\S{1,${longest}}|\\s+$`, 'gu')

/**
 * The time to encode a run without a space grows with the square of its length, so long ones are counted in pieces:
 * each may add a token.
 */
function countBounded(text: string, count: (part: string) => number): number {
  if (!longRun.test(text)) return count(text)
  let sum = 0
  for (const [part] of text.matchAll(pieces)) sum += count(part)
  return sum
}
