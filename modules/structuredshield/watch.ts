import type { Choice, Chunk, GatewayError } from '#kernel'
import { Assembler } from '#kit'

type Batch = readonly Chunk[]

/**
 * Lets a stream pass as it comes, and shows `check` each answer in it that has ended before the chunk goes on that ends
 * it. The error that `check` gives is then the end instead.
 */
export async function* watching(
  chunks: AsyncIterable<Batch>,
  check: (choice: Choice) => Promise<GatewayError | undefined>,
): AsyncGenerator<Batch> {
  const assembler = new Assembler()
  for await (const batch of chunks) {
    for (const [place, { data }] of batch.entries()) {
      assembler.add(data)
      const ended = new Set(
        data.choices.filter(({ finish_reason }) => finish_reason).map(({ index }) => index),
      )
      const choices = ended.size > 0 ? (assembler.completion().choices ?? []) : []
      for (const choice of choices.filter(({ index }) => ended.has(index))) {
        const error = await check(choice)
        if (!error) continue
        if (place > 0) yield batch.slice(0, place)
        throw error
      }
    }
    yield batch
  }
}
