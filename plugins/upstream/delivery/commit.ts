import type { Chunk } from '#kernel'
import { hasContent } from '#kit'

type Batches = AsyncIterable<readonly Chunk[]>

/**
 * Reads a stream up to its first content, and gives it back whole. Until then a failure can still be made good
 * elsewhere; `unreadable` makes one of a chunk that nobody could read.
 */
export async function committed(chunks: Batches, unreadable: (cause: unknown) => Error): Promise<Batches> {
  const source = chunks[Symbol.asyncIterator]()
  const held: Chunk[] = []
  for (let step = await source.next(); !step.done; step = await source.next()) {
    held.push(...step.value)
    try {
      if (step.value.some((chunk) => hasContent(chunk.data))) break
    } catch (cause) {
      await source.return?.()
      throw unreadable(cause)
    }
  }
  return { [Symbol.asyncIterator]: () => resumed(held, source) }
}

/** An iterator that first gives what was held. */
function resumed(
  held: readonly Chunk[],
  source: AsyncIterator<readonly Chunk[]>,
): AsyncIterator<readonly Chunk[]> {
  let given = held.length === 0
  return {
    next: () => {
      if (given) return source.next()
      given = true
      return Promise.resolve({ done: false, value: held })
    },
    return: async () => {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}
