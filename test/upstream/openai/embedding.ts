import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { plain } from './answer.ts'
import { countTokens } from './tokens.ts'

const BODY = z.object({
  model: z.string().default('text-embedding-3-small'),
  input: z.union([z.string(), z.array(z.unknown())]).default(''),
  dimensions: z.number().default(1536),
  encoding_format: z.enum(['float', 'base64']).default('float'),
})

/** Embeddings: unit vectors that depend on the input and nothing else. */
export function respondToEmbedding(request: RecordedRequest, script: Script): Answer {
  return plain(request, script, () => {
    const { model, input, dimensions, encoding_format } = BODY.parse(request.body)
    const inputs = inputsOf(input)
    const tokens = inputs.reduce<number>((sum, item) => sum + tokensOf(item), 0)
    const data = inputs.map((item, index) => {
      const vector = vectorOf(item, dimensions)
      return {
        object: 'embedding',
        index,
        embedding: encoding_format === 'base64' ? base64(vector) : [...vector],
      }
    })
    const usage = script.usage === undefined ? { prompt_tokens: tokens, total_tokens: tokens } : script.usage
    return { object: 'list', data, model, ...(usage && { usage }) }
  })
}

function inputsOf(input: string | unknown[]): unknown[] {
  const single = typeof input === 'string' || typeof input[0] === 'number'
  return single ? [input] : input
}

function tokensOf(item: unknown): number {
  return Array.isArray(item) ? item.length : countTokens(item)
}

function vectorOf(item: unknown, dimensions: number): Float32Array {
  const seed = createHash('shake256', { outputLength: dimensions }).update(JSON.stringify(item)).digest()
  const vector = Float32Array.from(seed, (byte) => byte - 127.5)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64')
}
