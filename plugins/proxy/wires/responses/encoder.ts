import { type Chunk, envelope, type GatewayError, type StreamEncoder } from '#kernel'
import { Answer } from './answer.ts'
import type { Asked } from './asked.ts'
import { EventText } from './event-text.ts'

/** Writes a stream of the wire: the response created and in progress, its items one after another, its end. */
export class ResponsesEncoder implements StreamEncoder {
  readonly #events = new EventText()
  readonly #answer: Answer

  constructor(asked: Asked) {
    this.#answer = new Answer(asked, this.#events)
  }

  chunks(batch: readonly Chunk[]): string {
    for (const { data } of batch) this.#answer.add(data)
    return this.#events.take()
  }

  end(): string {
    this.#answer.end()
    return this.#events.take()
  }

  /** The error, as OpenAI sends it and as its documentation has it, then the response that failed. */
  fail(error: GatewayError, requestId: string): string {
    const { code, message, param = null } = error
    const { error: nested } = envelope(error, requestId)
    this.#answer.begin()
    this.#events.emit('error', { code, message, param, error: nested })
    this.#answer.fail(error)
    return this.#events.take()
  }
}
