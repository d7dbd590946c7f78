import { Chunk, type StreamDecoder, type Target } from '#kernel'
import { excessOfEvent } from '#kit'
import { jsonObject, protocolError } from '#provider'
import { exceptionError } from './errors.ts'
import { Translation } from './events.ts'
import { type Frame, FrameSplitter } from './frames.ts'
import type { Plan } from './plan.ts'
import type { EventPayload } from './wire.ts'

/**
 * Reads an answer in AWS's event stream. It is complete with `messageStop`; its usage comes after that. Exceptions inside it
 * become the errors that they would have been outside.
 */
export class ConverseDecoder implements StreamDecoder {
  readonly #target: Target
  readonly #splitter = new FrameSplitter()
  readonly #translation: Translation

  constructor(plan: Plan, target: Target, id: string) {
    this.#target = target
    this.#translation = new Translation(plan, target, id)
  }

  get isOver(): boolean {
    return this.#translation.isOver
  }

  *push(bytes: Buffer): Generator<Chunk> {
    if (this.isOver) return
    for (const frame of this.#frames(bytes)) {
      yield* this.#chunks(frame)
      // What comes behind the end is not even looked at.
      if (this.isOver) return
    }
  }

  end(): readonly Chunk[] {
    if (!this.isOver && (!this.#translation.ended || this.#splitter.pending)) {
      throw this.#broken('ended its stream in the middle of the answer')
    }
    return []
  }

  *#frames(bytes: Buffer): Generator<Frame> {
    try {
      yield* this.#splitter.push(bytes)
    } catch (error) {
      throw this.#broken('sent bytes that are not an event stream', error)
    }
  }

  #chunks({ headers, payload }: Frame): Chunk[] {
    const kind = headers.get(':message-type')
    if (kind === 'error') {
      const message = headers.get(':error-message')
      throw exceptionError(headers.get(':error-code') ?? 'error', { message }, this.#target)
    }
    const event = this.#parsed(payload)
    if (kind === 'exception') {
      throw exceptionError(headers.get(':exception-type') ?? 'exception', event, this.#target)
    }
    const name = headers.get(':event-type') ?? ''
    try {
      return this.#translation.translate(name, event).map((chunk) => Chunk.of(chunk))
    } catch (error) {
      // A field of another type than it is documented to have.
      if (error instanceof TypeError) throw this.#broken('sent an event that cannot be read', error)
      throw error
    }
  }

  #parsed(payload: Buffer): EventPayload {
    if (payload.length === 0) return {}
    const excess = excessOfEvent(payload)
    if (excess) throw this.#broken(`sent ${excess}`)
    return jsonObject(payload, this.#target, 'sent an event that is')
  }

  #broken(what: string, cause?: unknown): Error {
    return protocolError(this.#target, what, { retryable: true, cause })
  }
}
