import type { Chunk, Filter, Out } from '#kernel'
import { answerLength, finishChunk, shortenAnswer } from '#kit'

type ChoiceDelta = Chunk['data']['choices'][number]

/** Characters a token has at the most, over a whole answer: English has 4 to 5, and other languages fewer. */
const charactersPerToken = 6
/** So many tokens are allowed for on top, since a few tokens can be unusually long. */
const spareTokens = 16

/**
 * Ends each choice of a stream that goes on although its tokens must be used up, in the middle of a chunk if need be: one may be
 * much of an answer. It counts characters, generously: the provider's own count is exact, and an answer within the limit must not
 * lose its end.
 */
export class Cut implements Filter {
  readonly #allowed: number
  readonly #choices: number
  readonly #written = new Map<number, number>()
  readonly #finished = new Set<number>()
  readonly #cut = new Set<number>()

  constructor(tokens: number, choices: number) {
    this.#allowed = (tokens + spareTokens) * charactersPerToken
    this.#choices = choices
  }

  push(chunk: Chunk, out: Out): void {
    const { choices: came, ...rest } = chunk.data
    const over: number[] = []
    const choices = came.flatMap((choice) => {
      if (this.#cut.has(choice.index)) return []
      const kept = this.#within(choice)
      if (kept !== choice) over.push(choice.index)
      return kept
    })
    if (over.length === 0 && choices.length === came.length) out.emit(chunk)
    else if (choices.length > 0 || rest.usage) out.emit(chunk.with({ ...rest, choices }))
    if (over.length === 0) return
    for (const index of over) this.#cut.add(index)
    if (this.#cut.size + this.#finished.size >= this.#choices) out.finish('length', over)
    else out.emit(finishChunk(chunk.data, over, 'length'))
  }

  /** The choice as far as it may go on; the same object where all of it may. */
  #within(choice: ChoiceDelta): ChoiceDelta {
    const { index, finish_reason } = choice
    const written = this.#written.get(index) ?? 0
    const length = answerLength(choice)
    this.#written.set(index, written + length)
    if (finish_reason) this.#finished.add(index)
    return finish_reason || written + length <= this.#allowed
      ? choice
      : shortenAnswer(choice, Math.max(0, this.#allowed - written))
  }
}
