import { type Chunk, envelope, type GatewayError, type StreamEncoder } from '#kernel'
import { encodeEvent } from '#kit'
import { Answer } from './answer.ts'
import type { Asked } from './asked.ts'
import type { Fields } from './schema.ts'

/**
 * Writes a stream of the wire: the response created and in progress, its items one after another, its end. Events are
 * numbered in the order in which they leave.
 */
export class ResponsesEncoder implements StreamEncoder {
  readonly #answer: Answer
  #written = ''
  #next = 0

  constructor(asked: Asked) {
    this.#answer = new Answer(asked, (type, data) => this.#write(type, data))
  }

  chunks(batch: readonly Chunk[]): string {
    for (const { data } of batch) this.#answer.add(data)
    return this.#taken()
  }

  end(): string {
    this.#answer.end()
    return this.#taken()
  }

  /** The error, as OpenAI sends it and as its documentation has it, then the response that failed. */
  fail(error: GatewayError, requestId: string): string {
    const { code, message, param = null } = error
    const { error: nested } = envelope(error, requestId)
    this.#answer.begin()
    this.#write('error', { code, message, param, error: nested })
    this.#answer.fail(error)
    return this.#taken()
  }

  #write(type: string, data: Fields): void {
    this.#written += encodeEvent({ type, sequence_number: this.#next, ...data }, type)
    this.#next += 1
  }

  #taken(): string {
    const written = this.#written
    this.#written = ''
    return written
  }
}
