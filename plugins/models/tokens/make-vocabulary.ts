import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { byteAlphabet } from './bytes.ts'

/**
 * Makes a vocabulary of `plugins/models/tokens/shipped` out of the file that its maker publishes: a `tokenizer.json`, Mistral's
 * `tekken.json`, or a model of SentencePiece's. What is kept is what the counts depend on: the merges, or of SentencePiece
 * the pieces, in their order.
 *
 *     node plugins/models/tokens/make-vocabulary.ts <file> <out.merges.br | out.pieces.br>
 */
const [source, out] = process.argv.slice(2)
if (source === undefined || out === undefined) {
  throw new Error(
    'say which file to read and which to write: node plugins/models/tokens/make-vocabulary.ts <file> <out>',
  )
}

interface Published {
  readonly model?: { readonly merges: readonly (string | readonly string[])[] }
  readonly config?: { readonly default_vocab_size: number; readonly default_num_special_tokens: number }
  readonly vocab?: readonly { readonly token_bytes: string }[]
}

const kept = out.endsWith('.pieces.br')
  ? piecesOf(await readFile(source))
  : mergesOf(JSON.parse(await readFile(source, 'utf8')) as Published)
const text = Buffer.from(kept.join('\n'))
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
}
await writeFile(out, brotliCompressSync(text, { params }))
console.log(`${out}: ${kept.length} lines`)

function mergesOf(published: Published): string[] {
  return published.model ? listed(published.model.merges) : derived(published)
}

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

/** The plain pieces of a model of SentencePiece's, the likeliest first: `pieces` of its `ModelProto`. */
function piecesOf(model: Buffer): string[] {
  const found: { readonly piece: string; readonly score: number }[] = []
  for (const [field, value] of fieldsOf(model)) {
    if (field !== 1) continue
    const fields = new Map(fieldsOf(value))
    const piece = fields.get(1)?.toString('utf8') ?? ''
    const isPlain = (fields.get(3)?.[0] ?? 1) === 1
    if (isPlain) found.push({ piece, score: fields.get(2)?.readFloatLE() ?? 0 })
  }
  return found.sort((a, b) => b.score - a.score).map(({ piece }) => piece)
}

/** The fields of a message in Protocol Buffers' format, by their numbers. */
function fieldsOf(message: Buffer): [field: number, value: Buffer][] {
  const fields: [number, Buffer][] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++]!
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const key = varint()
    const kind = key % 8
    const size = kind === 2 ? varint() : kind === 5 ? 4 : kind === 1 ? 8 : 0
    const from = at
    if (kind === 0) varint()
    else at += size
    fields.push([Math.floor(key / 8), message.subarray(from, at)])
  }
  return fields
}
