import type { Chunk } from '../canonical/chunk.ts'
import type { Cancel } from '../work/cancel.ts'
import { takingTurns } from '../work/turns.ts'

/** Chunks that are written to a client without a turn for other work. */
export const mostTogether = 256

/** The parts of a batch that is longer, such as an answer that a module has held back, with turns for other work. */
export async function* partsOf(batch: readonly Chunk[], cancel: Cancel): AsyncGenerator<readonly Chunk[]> {
  const turn = takingTurns()
  for (let at = 0; at < batch.length; at += mostTogether) {
    await turn()
    cancel.check()
    yield batch.slice(at, at + mostTogether)
  }
}
