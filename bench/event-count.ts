import { STREAM_EVENTS } from './request.ts'

const MARK = '"content":"w'

/** Watches one stream go by: were all numbered events there, in order, each once, and one end? */
export class EventCount {
  #tail = ''
  #next = 0
  #ends = 0
  #disorder = false

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
    const at = text.indexOf(MARK, start)
    if (at >= 0 && at < end) {
      const number = Number(text.slice(at + MARK.length, at + MARK.length + 3))
      if (number !== this.#next) this.#disorder = true
      this.#next += 1
    } else if (text.startsWith('[DONE]', start + 6)) {
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
