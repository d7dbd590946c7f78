import { Chunk, type Filter, type Out } from '#kernel'
import { eventsOf, finishChunk } from '#kit'

type ChoiceDelta = Chunk['data']['choices'][number]

/** Characters a token has at the most, over a whole answer: English has 4 to 5, and other languages fewer. */
const charactersPerToken = 6
/** So many tokens are allowed for on top, since a few tokens can be unusually long. */
const spareTokens = 16

/**
 * Ends each choice of a stream that goes on although its tokens must be used up. It counts characters, generously: the
 * provider's own count is exact, and an answer within the limit must not lose its end.
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
    for (const event of eventsOf(chunk)) this.#push(event, out)
  }

  #push(chunk: Chunk, out: Out): void {
    const kept = this.#withoutCut(chunk)
    if (!kept) return
    out.emit(kept)
    const over = kept.data.choices.filter((choice) => this.#isOver(choice)).map(({ index }) => index)
    if (over.length === 0) return
    for (const index of over) this.#cut.add(index)
    if (this.#cut.size + this.#finished.size >= this.#choices) out.finish('length', over)
    else out.emit(finishChunk(kept.data, over, 'length'))
  }

  /** The chunk as it goes on: choices that were cut get nothing more. */
  #withoutCut(chunk: Chunk): Chunk | undefined {
    if (this.#cut.size === 0) return chunk
    const { choices, ...rest } = chunk.data
    const kept = choices.filter(({ index }) => !this.#cut.has(index))
    if (kept.length === choices.length) return chunk
    return kept.length > 0 || rest.usage ? Chunk.of({ ...rest, choices: kept }) : undefined
  }

  #isOver(choice: ChoiceDelta): boolean {
    const { index, finish_reason } = choice
    const written = (this.#written.get(index) ?? 0) + lengthOf(choice)
    this.#written.set(index, written)
    if (finish_reason) this.#finished.add(index)
    return !finish_reason && written > this.#allowed
  }
}

/** Characters of everything a model is billed for: what it says, thinks, declines with and calls. */
function lengthOf({ text, delta }: ChoiceDelta): number {
  const parts = [text, delta?.content, delta?.reasoning_content, delta?.reasoning, delta?.refusal]
  const calls = delta?.tool_calls?.map((call) => call.function?.arguments) ?? []
  return [...parts, ...calls].reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? part.length : 0),
    0,
  )
}
