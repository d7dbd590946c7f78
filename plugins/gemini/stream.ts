import { type Call, Chunk, type StreamDecoder, type Target } from '#kernel'
import { carriesData, EventSplitter, eventData } from '#kit'
import { jsonObject, protocolError } from '#provider'
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

  *push(bytes: Buffer): Generator<Chunk> {
    for (const event of this.#splitter.push(bytes)) yield* this.#chunks(event)
  }

  *end(): Generator<Chunk> {
    const rest = this.#splitter.end()
    if (rest) yield* this.#chunks(rest)
    if (!this.#reader.complete) throw this.#broken('ended its stream in the middle of the answer')
    const usage = this.#reader.usage()
    if (usage) yield Chunk.of(usage)
  }

  *#chunks(event: Buffer): Generator<Chunk> {
    if (!carriesData(event)) return
    const response = jsonObject(eventData(event), this.#target, 'sent an event that is')
    for (const chunk of this.#reader.read(response)) yield Chunk.of(chunk, this.#reader.counted)
  }

  #broken(what: string, cause?: unknown): Error {
    return protocolError(this.#target, what, { retryable: !this.#call.cancel.aborted, cause })
  }
}
