import type { CallForm } from './call-form.ts'

/** Bytes of the request that every measurement sends, and of the reply that it gets from chat. */
export const REQUEST_BYTES = 574
export const REPLY_BYTES = 674

/** Events with content in a stream. */
export const STREAM_EVENTS = 100

/** How the fake upstream sends a stream: so many milliseconds between two events, or all at once. */
export type Pace = number | 'burst'

/** The model asked for; a common name, so that gateways know its provider and its price. */
export const MODEL = 'gpt-4o-mini'
/** The same of the other provider. */
export const CLAUDE = 'claude-haiku-4-5'

const SERIAL_DIGITS = 9

/** One HTTP/1.1 request as bytes, with a serial number inside that makes each sending of it a new question. */
export class RequestTemplate {
  readonly bytes: Buffer
  readonly #serialAt: number

  private constructor(bytes: Buffer, serialAt: number) {
    this.bytes = bytes
    this.#serialAt = serialAt
  }

  static build(form: CallForm, headers: Readonly<Record<string, string>>, pace?: Pace): RequestTemplate {
    const body = bodyOf(form, pace)
    const lines = Object.entries({
      host: '127.0.0.1',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.from(`POST ${form.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    return new RequestTemplate(bytes, bytes.indexOf('serial ') + 'serial '.length)
  }

  /** A copy for one connection, whose serial number `write` sets. */
  copy(): RequestTemplate {
    return new RequestTemplate(Buffer.from(this.bytes), this.#serialAt)
  }

  write(serial: number): Buffer {
    let rest = serial
    for (let at = this.#serialAt + SERIAL_DIGITS - 1; at >= this.#serialAt; at -= 1) {
      this.bytes[at] = 48 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    return this.bytes
  }
}

/** A body of exactly `REQUEST_BYTES`; a stream's is as long as its extra fields make it. */
function bodyOf(form: CallForm, pace: Pace | undefined): string {
  const question = `serial ${'0'.repeat(SERIAL_DIGITS)}${pace === undefined ? '' : ` pace:${pace};`}. `
  const make = (filler: string) => JSON.stringify(form.ask(question + filler, pace !== undefined))
  return make(prose(REQUEST_BYTES - make('').length))
}

const WORDS = 'the quick report on how goods move between harbour and market in a year of little rain '

/** Plain words, just so many characters of them. */
export function prose(length: number): string {
  return WORDS.repeat(Math.ceil(Math.max(0, length) / WORDS.length)).slice(0, Math.max(0, length))
}
