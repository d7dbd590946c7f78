import type { Chunk, Filter, Out } from '#kernel'
import { finishChunk } from '#kit'

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
    const length = lengthOf(choice)
    this.#written.set(index, written + length)
    if (finish_reason) this.#finished.add(index)
    return finish_reason || written + length <= this.#allowed
      ? choice
      : shortened(choice, Math.max(0, this.#allowed - written))
  }
}

/** The texts of a delta that a model is billed for: what it says, thinks and declines with. */
const billed = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Characters of everything a model is billed for, the arguments of calls included. */
function lengthOf({ text, delta }: ChoiceDelta): number {
  const parts = [text, ...billed.map((field) => delta?.[field])]
  const calls = delta?.tool_calls?.map((call) => call.function?.arguments) ?? []
  return [...parts, ...calls].reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? part.length : 0),
    0,
  )
}

/** A choice with so many characters of its texts, and without what spells them out once more. */
function shortened({ logprobs: _, ...choice }: ChoiceDelta, characters: number): ChoiceDelta {
  let room = characters
  const take = (text: string): string => {
    const kept = text.slice(0, room)
    room -= kept.length
    return kept.length === text.length || kept.isWellFormed() ? kept : kept.slice(0, -1)
  }
  const { text, delta } = choice
  if (!delta) return { ...choice, ...(typeof text === 'string' && { text: take(text) }) }
  const { reasoning_details: __, tool_calls: calls, ...said } = delta
  const texts = billed.filter((field) => typeof said[field] === 'string')
  const kept = Object.fromEntries(texts.map((field) => [field, take(said[field] as string)]))
  const cut = calls?.map((call) => {
    const args = call.function?.arguments
    return args === undefined ? call : { ...call, function: { ...call.function, arguments: take(args) } }
  })
  return { ...choice, delta: { ...said, ...kept, ...(cut && { tool_calls: cut }) } }
}
