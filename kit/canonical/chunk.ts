import { deepFreeze } from '../json/deep-freeze.ts'
import type { CompletionChunk, FinishReason, WireUsage } from './forms.ts'
import { parseChunk } from './parse.ts'

/** Parses events of one stream that are alike, such as `EventTemplate` of the kit. */
export interface EventReader {
  /** The chunk that adds what all of these events add. Throws a coded error for what is no chunk. */
  read(events: Buffer): CompletionChunk
  /** The events one by one. */
  split?(events: Buffer): readonly Buffer[]
}

/**
 * One event of a stream, or several alike that came together. A chunk that came from a provider keeps its bytes and is parsed
 * at the first look at its data; changing one means making another, which has no bytes and is serialised on its way out.
 */
export class Chunk {
  readonly #raw: Buffer | undefined
  /** The provider's counts so far: only for the bill, should the answer not come to its end. */
  readonly counted: WireUsage | undefined
  /** Parses its events, where they were left to be parsed by it. */
  readonly reader: EventReader | undefined
  /** How many events it stands for. */
  readonly events: number
  #data: CompletionChunk | undefined
  #isSealed = false

  private constructor(
    raw: Buffer | undefined,
    data: CompletionChunk | undefined,
    counted: WireUsage | undefined,
    reader: EventReader | undefined,
    events: number,
  ) {
    this.#raw = raw
    this.counted = counted
    this.#data = data
    this.reader = reader
    this.events = events
  }

  static of(data: CompletionChunk, counted?: WireUsage, events = 1): Chunk {
    return new Chunk(undefined, data, counted, undefined, events)
  }

  /** An event of a provider; `data` is its JSON, parsed already or left to be parsed. Several events come with their data. */
  static fromBytes(raw: Buffer, data?: CompletionChunk, counted?: WireUsage, events = 1): Chunk {
    return new Chunk(raw, data, counted, undefined, events)
  }

  /** An event of a provider, or several behind each other that a reader takes for one, left to be parsed by that reader. */
  static unread(raw: Buffer, reader: EventReader, events = 1): Chunk {
    return new Chunk(raw, undefined, undefined, reader, events)
  }

  /** The chunk that stands for the same events with these data. */
  with(data: CompletionChunk): Chunk {
    return Chunk.of(data, this.counted, this.events)
  }

  /** Makes it read only from now on: it and its data are frozen, and each reader gets a copy of its bytes. */
  seal(): this {
    if (this.#isSealed) return this
    this.#isSealed = true
    deepFreeze(this.#data)
    return Object.freeze(this)
  }

  /** The event as it came, its blank line included. */
  get raw(): Buffer | undefined {
    return this.#isSealed && this.#raw ? Buffer.from(this.#raw) : this.#raw
  }

  /** The data, if it was parsed or made already. */
  get seen(): CompletionChunk | undefined {
    return this.#data
  }

  /** Throws a coded error when the provider's event is not the JSON of a chunk. */
  get data(): CompletionChunk {
    if (!this.#data) {
      this.#data = this.reader ? this.reader.read(this.#raw!) : parseChunk(this.#raw!.toString())
      if (this.#isSealed) deepFreeze(this.#data)
    }
    return this.#data
  }
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
export function envelopeOf(chunk: CompletionChunk): Omit<CompletionChunk, 'choices'> {
  const { choices: _, usage: __, ...rest } = chunk
  return rest
}
