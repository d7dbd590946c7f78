import type { ChoiceDelta, CompletionChunk, FinishReason } from '../canonical.ts'

/**
 * One event of a stream. A chunk that came from a provider keeps its bytes and is parsed when somebody looks;
 * changing one means making another, which has no bytes and is serialised on its way out.
 */
export class Chunk {
  /** The event as it came, its blank line included. */
  readonly raw: Buffer | undefined
  #data: CompletionChunk | undefined

  private constructor(raw: Buffer | undefined, data: CompletionChunk | undefined) {
    this.raw = raw
    this.#data = data
  }

  static of(data: CompletionChunk): Chunk {
    return new Chunk(undefined, data)
  }

  /** An event of a provider; `data` is its JSON, parsed already or left to be parsed. */
  static fromBytes(raw: Buffer, data?: CompletionChunk): Chunk {
    return new Chunk(raw, data)
  }

  /** The data, if somebody parsed or made it already. */
  get seen(): CompletionChunk | undefined {
    return this.#data
  }

  get data(): CompletionChunk {
    this.#data ??= JSON.parse(eventData(this.raw!)) as CompletionChunk
    return this.#data
  }
}

/** The value of an event's `data:` lines, joined as the SSE standard says. */
export function eventData(event: Buffer): string {
  const text = event.toString('utf8')
  if (text.startsWith('data: ') && text.indexOf('\n') >= text.length - 2) return text.slice(6).trimEnd()
  return text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line.charCodeAt(5) === 32 ? 6 : 5))
    .join('\n')
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
