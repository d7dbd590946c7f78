import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { byteAlphabet } from '../kernel/tokens/bytes.ts'

/**
 * Makes a vocabulary of `kernel/tokens/shipped` out of the file that its maker publishes: a `tokenizer.json`, or
 * Mistral's `tekken.json`. What is kept is what the counts depend on: the merges, in their order.
 *
 *     node bin/vocabulary.ts <file> <out.merges.br>
 */
const [source, out] = process.argv.slice(2)
if (source === undefined || out === undefined) {
  throw new Error('say which file to read and which to write: node bin/vocabulary.ts <file> <out.merges.br>')
}

interface Published {
  readonly model?: { readonly merges: readonly (string | readonly string[])[] }
  readonly config?: { readonly default_vocab_size: number; readonly default_num_special_tokens: number }
  readonly vocab?: readonly { readonly token_bytes: string }[]
}

const published = JSON.parse(await readFile(source, 'utf8')) as Published
const merges = published.model ? listed(published.model.merges) : derived(published)
const text = Buffer.from(merges.join('\n'))
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
}
await writeFile(out, brotliCompressSync(text, { params }))
console.log(`${out}: ${merges.length} merges`)

function listed(merges: readonly (string | readonly string[])[]): string[] {
  return merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')))
}

/**
 * The merges of a vocabulary that is kept by rank, as tiktoken's are: a token is made of the two parts that all tokens
 * of lower ranks leave of its bytes.
 */
function derived({ config, vocab = [] }: Published): string[] {
  const size = (config?.default_vocab_size ?? 0) - (config?.default_num_special_tokens ?? 0)
  const alphabet = byteAlphabet()
  const visible = (bytes: Buffer): string => [...bytes].map((byte) => alphabet[byte]).join('')
  const tokens = vocab.slice(0, size).map(({ token_bytes }) => visible(Buffer.from(token_bytes, 'base64')))
  const ranks = new Map(tokens.map((token, rank) => [token, rank]))
  return tokens.flatMap((token, rank) => {
    if ([...token].length === 1) return []
    const parts = mergedBelow(token, rank, ranks)
    if (parts.length !== 2)
      throw new Error(`token ${rank} is of ${parts.length} parts, and no merge leads to it`)
    return [parts.join(' ')]
  })
}

function mergedBelow(token: string, limit: number, ranks: ReadonlyMap<string, number>): string[] {
  const parts = [...token]
  for (;;) {
    let best = limit
    let at = -1
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(parts[i]! + parts[i + 1]!) ?? limit
      if (rank < best) {
        best = rank
        at = i
      }
    }
    if (at === -1) return parts
    parts.splice(at, 2, parts[at]! + parts[at + 1]!)
  }
}
