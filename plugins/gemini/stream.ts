import { type Call, Chunk, type StreamDecoder, type Target } from '#kernel'
import { carriesData, EventSplitter, eventData, jsonObject, protocolError } from '#kit'
import { AnswerReader } from './reader.ts'

/** Reads a streamed answer: every event is an answer of its own, and no mark says which is the last. */
export class AnswerDecoder implements StreamDecoder {
  readonly #call: Call
  readonly #target: Target
  readonly #splitter = new EventSplitter()
  readonly #reader: AnswerReader

  constructor(call: Call, target: Target) {
    this.#call = call
    this.#target = target
    this.#reader = new AnswerReader(call, target)
  }

  push(bytes: Buffer): Chunk[] {
    return this.#split(bytes).flatMap((event) => this.#chunks(event))
  }

  end(): Chunk[] {
    const rest = this.#splitter.end()
    const chunks = rest ? this.#chunks(rest) : []
    if (!this.#reader.complete) throw this.#broken('ended its stream in the middle of the answer')
    const usage = this.#reader.usage()
    return usage ? [...chunks, Chunk.of(usage)] : chunks
  }

  #split(bytes: Buffer): Buffer[] {
    try {
      return this.#splitter.push(bytes)
    } catch (error) {
      throw this.#broken('sent an event that is too large', error)
    }
  }

  #chunks(event: Buffer): Chunk[] {
    if (!carriesData(event)) return []
    const chunks = this.#reader.read(jsonObject(eventData(event), this.#target, 'sent an event that is'))
    const { counted } = this.#reader
    return chunks.map((chunk) => Chunk.of(chunk, counted))
  }

  #broken(what: string, cause?: unknown): Error {
    return protocolError(this.#target, what, { retryable: !this.#call.cancel.aborted, cause })
  }
}
