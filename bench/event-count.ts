import type { CallForm } from './call-form.ts'
import { STREAM_EVENTS } from './request.ts'

/** How a stream's events are known. */
export type EventForm = Pick<CallForm, 'mark' | 'end'>

/** Watches one stream go by: were all numbered events there, in order, each once, and one end? */
export class EventCount {
  readonly #form: EventForm
  #tail = ''
  #next = 0
  #ends = 0
  #disorder = false

  constructor(form: EventForm) {
    this.#form = form
  }

  push(bytes: Buffer): void {
    const text = this.#tail + bytes.toString('latin1')
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      if (end - start > 1) this.#line(text, start, end)
      start = end + 1
    }
    this.#tail = start === text.length ? '' : text.slice(start)
  }

  #line(text: string, start: number, end: number): void {
    const { mark, end: last } = this.#form
    const at = text.indexOf(mark, start)
    if (at >= 0 && at < end) {
      const number = Number(text.slice(at + mark.length, at + mark.length + 3))
      if (number !== this.#next) this.#disorder = true
      this.#next += 1
    } else if (text.startsWith(last, start)) {
      this.#ends += 1
    }
  }

  /** Events with content so far. */
  get events(): number {
    return this.#next
  }

  get complete(): boolean {
    return !this.#disorder && this.#next === STREAM_EVENTS && this.#ends === 1 && this.#tail === ''
  }
}
