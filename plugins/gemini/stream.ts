import { type Call, Chunk, type CompletionChunk, type StreamDecoder, type Target } from '#kernel'
import { carriesData, EventSplitter, eventData, joinChunks } from '#kit'
import { jsonObject, protocolError } from '#provider'
import { AnswerReader } from './reader.ts'
import { isNative } from './said.ts'

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
    const usage = isNative(this.#call) ? undefined : this.#reader.usage()
    if (usage) yield Chunk.of(usage)
  }

  *#chunks(event: Buffer): Generator<Chunk> {
    if (!carriesData(event)) return
    const response = jsonObject(eventData(event), this.#target, 'sent an event that is')
    if (isNative(this.#call)) {
      yield* this.#asItCame(event, response)
      return
    }
    for (const chunk of this.#reader.read(response)) yield Chunk.of(chunk, this.#reader.counted)
  }

  /** For clients of this protocol: each event with its bytes, and the usage at the end. */
  *#asItCame(event: Buffer, response: object): Generator<Chunk> {
    const chunks: CompletionChunk[] = []
    let failure: unknown
    try {
      for (const chunk of this.#reader.read(response)) chunks.push(chunk)
    } catch (error) {
      failure = error
    }
    const usage = this.#reader.complete ? this.#reader.usage() : undefined
    const data = joinChunks([...chunks, ...(usage ? [usage] : [])])
    const counted = this.#reader.counted
    if (failure === undefined) yield Chunk.fromBytes(event, data, counted)
    else {
      if (chunks.length > 0) yield Chunk.of(data, counted)
      throw failure
    }
  }

  #broken(what: string, cause?: unknown): Error {
    return protocolError(this.#target, what, { retryable: !this.#call.cancel.aborted, cause })
  }
}
