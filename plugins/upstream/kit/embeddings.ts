import type { Completion, ModelRequest, WireUsage } from '#kernel'

/** Embeddings as OpenAI gives them; in base64 for clients that asked for that. */
export function embeddingList(
  model: string,
  vectors: readonly (readonly number[])[],
  { encoding_format: format }: ModelRequest,
  usage: WireUsage | undefined,
): Completion {
  return {
    object: 'list',
    model,
    data: vectors.map((values, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? base64(values) : values,
    })),
    ...(usage && { usage }),
  }
}

/** Single floats, least significant byte first. */
function base64(values: readonly number[]): string {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, 4 * i)
  return bytes.toString('base64')
}
