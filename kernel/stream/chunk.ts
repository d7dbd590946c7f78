import type { ChoiceDelta, CompletionChunk, FinishReason, WireUsage } from '../call/canonical.ts'
import { providerError } from '../errors.ts'
import { eventData } from './sse.ts'

/**
 * One event of a stream. A chunk that came from a provider keeps its bytes and is parsed when somebody looks;
 * changing one means making another, which has no bytes and is serialised on its way out.
 */
export class Chunk {
  /** The event as it came, its blank line included. */
  readonly raw: Buffer | undefined
  /** What the provider had counted so far: for the books alone, should the answer not come to its end. */
  readonly counted: WireUsage | undefined
  #data: CompletionChunk | undefined

  private constructor(
    raw: Buffer | undefined,
    data: CompletionChunk | undefined,
    counted: WireUsage | undefined,
  ) {
    this.raw = raw
    this.counted = counted
    this.#data = data
  }

  static of(data: CompletionChunk, counted?: WireUsage): Chunk {
    return new Chunk(undefined, data, counted)
  }

  /** An event of a provider; `data` is its JSON, parsed already or left to be parsed. */
  static fromBytes(raw: Buffer, data?: CompletionChunk, counted?: WireUsage): Chunk {
    return new Chunk(raw, data, counted)
  }

  /** The same event, of which nothing is shared that somebody could change. */
  copy(): Chunk {
    return new Chunk(this.raw, this.#data && structuredClone(this.#data), this.counted)
  }

  /** The data, if somebody parsed or made it already. */
  get seen(): CompletionChunk | undefined {
    return this.#data
  }

  /** Throws a coded error when the provider's event is not the JSON of a chunk. */
  get data(): CompletionChunk {
    this.#data ??= parsed(this.raw!)
    return this.#data
  }
}

function parsed(raw: Buffer): CompletionChunk {
  let data: CompletionChunk
  try {
    data = JSON.parse(eventData(raw)) as CompletionChunk
  } catch (cause) {
    throw providerError('The provider sent an event that is not JSON.', { cause })
  }
  if (!Array.isArray(data?.choices)) return { ...data, choices: [] }
  if (!isSound(data)) throw providerError('The provider sent an event that makes no sense.')
  return data
}

/** Whether a chunk has the shape that everybody relies on, whatever else is in it. */
export function isSound({ choices }: CompletionChunk): boolean {
  for (const choice of choices) {
    if (typeof choice !== 'object' || choice === null) return false
    const calls: unknown = choice.delta?.tool_calls
    if (calls === undefined || calls === null) continue
    if (!Array.isArray(calls) || calls.some((call) => typeof call !== 'object' || call === null)) return false
  }
  return true
}

/** Whether a chunk carries something a reader would see: the point after which nothing can be taken back. */
export function hasContent(chunk: CompletionChunk): boolean {
  return chunk.choices.some(choiceHasContent)
}

function choiceHasContent(choice: ChoiceDelta): boolean {
  if (choice.text) return true
  if (choice.finish_reason) return true
  const delta = choice.delta
  if (!delta) return false
  for (const field in delta) {
    if (field === 'role') continue
    const value = delta[field]
    if (value !== null && value !== undefined && value !== '') return true
  }
  return false
}

/** A chunk that ends every choice it is given, in the likeness of the chunk before it. */
export function finishChunk(like: CompletionChunk, indexes: Iterable<number>, reason: FinishReason): Chunk {
  const legacy = like.object === 'text_completion'
  return Chunk.of({
    ...envelopeOf(like),
    choices: Array.from(indexes, (index) =>
      legacy ? { index, text: '', finish_reason: reason } : { index, delta: {}, finish_reason: reason },
    ),
  })
}

/** The fields that all chunks of one answer share. */
export function envelopeOf({
  choices: _,
  usage: __,
  ...rest
}: CompletionChunk): Omit<CompletionChunk, 'choices'> {
  return rest
}
