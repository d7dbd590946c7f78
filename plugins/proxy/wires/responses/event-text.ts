import { encodeEvent } from '#kit'
import type { Events, Growing } from './open-item.ts'
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
  grow({ before, between }: Growing, text: string, logprobs: readonly unknown[] | undefined): void {
    this.#written += `${before}${this.#next}${between}${JSON.stringify(text)}${endOf(logprobs)}`
    this.#next += 1
  }

  /** What was written since the last time. */
  take(): string {
    const written = this.#written
    this.#written = ''
    return written
  }
}

function endOf(logprobs: readonly unknown[] | undefined): string {
  if (logprobs === undefined) return '}\n\n'
  return logprobs.length === 0 ? ',"logprobs":[]}\n\n' : `,"logprobs":${JSON.stringify(logprobs)}}\n\n`
}
