import { encodeEvent } from '#kit'
import type { Events } from './open-item.ts'
import type { Fields } from './schema.ts'

/** Events as text, numbered in the order in which they come; those of a batch leave in one piece. */
export class EventText implements Events {
  #written = ''
  #next = 0

  emit(type: string, data: Fields): void {
    this.#written += encodeEvent({ type, sequence_number: this.#next, ...data }, type)
    this.#next += 1
  }

  /** Serialises the text alone: of the events of a stream most are of this kind. */
  grow(type: string, at: string, text: string, logprobs: readonly unknown[] | undefined): void {
    const odds = logprobs === undefined ? '' : `,"logprobs":${JSON.stringify(logprobs)}`
    this.#written += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next},${at},"delta":${JSON.stringify(text)}${odds}}\n\n`
    this.#next += 1
  }

  /** What was written since the last time. */
  take(): string {
    const written = this.#written
    this.#written = ''
    return written
  }
}
