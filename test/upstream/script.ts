import type { RecordedRequest } from './record.ts'

/** A call of a function that the model makes; `arguments` may be given as an object. */
export interface ScriptedToolCall {
  readonly id?: string
  readonly name: string
  readonly arguments: string | Readonly<Record<string, unknown>>
}

/** The error body of an upstream failure; what is left out is filled in by the wire for the status. */
export interface ScriptedError {
  readonly message?: string
  readonly type?: string
  readonly param?: string | null
  readonly code?: string | null
}

export interface Gate {
  readonly opened: Promise<unknown>
  /** Chunks that pass before; without it the headers wait as well. */
  readonly after?: number
}

/**
 * How one request is answered, as data. Everything is optional: `{}` is the default echo answer, and each field
 * changes one thing about it.
 */
export interface Script {
  /** The answer's text. An array gives the exact deltas of a stream; a string is cut into tokens. */
  readonly content?: string | readonly string[]
  readonly toolCalls?: readonly ScriptedToolCall[]
  /** Sent as `reasoning_content`, before the content. */
  readonly reasoning?: string
  /** The model declines: sent in the `refusal` field, content is null. */
  readonly refusal?: string
  readonly finishReason?: string
  /** Replaces the counted usage; null leaves it out altogether. */
  readonly usage?: Readonly<Record<string, unknown>> | null
  /** The whole body of an unstreamed answer: text as it is, anything else as JSON. */
  readonly body?: unknown
  /** Exact frames of a stream, each with its own line ends; nothing is added, not even `[DONE]`. */
  readonly chunks?: readonly (string | Uint8Array)[]
  /** Body bytes that make no sense, under the usual status and content type. */
  readonly garbage?: string | Uint8Array
  /** Status of the answer; 400 and above gives an error body of the wire. */
  readonly status?: number
  readonly error?: ScriptedError
  /** Sets `retry-after` in seconds; the status is 429 unless it is given. */
  readonly retryAfter?: number
  /** Added to the wire's own headers, over which they win; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** Milliseconds from the request to the headers. */
  readonly delayMs?: number
  /** Milliseconds from the headers to the first byte of the body. */
  readonly firstByteDelayMs?: number
  /** Milliseconds between two chunks. */
  readonly gapMs?: number
  /** Holds the answer back until it is opened: it keeps no test waiting longer than that test needs. */
  readonly gate?: Gate
  /** The socket is destroyed after so many chunks; 0 is after the headers. */
  readonly cutAfter?: number
  /** The body ends after so many chunks, as if they were all. */
  readonly endAfter?: number
  /** Sent again and again behind the answer, until the client has left. */
  readonly endless?: string | Uint8Array
  /** Packs the body, whatever the client asked for; every chunk can be unpacked as soon as it has come. */
  readonly coding?: 'gzip' | 'br' | 'deflate' | 'deflate-raw' | 'zstd'
  /** Nothing more is sent after so many chunks, and the socket stays open; 0 is after the headers. */
  readonly hangAfter?: number
  /** Nothing is ever sent, and the socket stays open. */
  readonly hang?: boolean
  /** The connection is reset before any byte of the answer. */
  readonly drop?: boolean
  /** Cuts the body every so many bytes, or at these offsets; each piece then counts as a chunk. */
  readonly splitBytes?: number | readonly number[]
  /** How many requests this script answers; 1 by default, `Infinity` for all. */
  readonly times?: number
}

/** Which requests a script is for: all the given fields must hold, or the function says so. */
export type Match = ((request: RecordedRequest) => boolean) | MatchFields

export interface MatchFields {
  /** End of the path, such as `/chat/completions`. */
  readonly path?: string
  readonly model?: string
  readonly stream?: boolean
  /** The bearer, or whatever else the wire calls its key. */
  readonly key?: string
  /** Found in the raw body. */
  readonly text?: string | RegExp
}

/** Scripts waiting for their requests: first come, first served, among those that match. */
export class ScriptQueue {
  #entries: { match: Match | undefined; script: Script; left: number }[] = []

  add(match: Match | undefined, script: Script): void {
    this.#entries.push({ match, script, left: script.times ?? 1 })
  }

  /** The first script for this request, used up once; undefined when there is none. */
  take(request: RecordedRequest): Script | undefined {
    const entry = this.#entries.find((entry) => matches(entry.match, request))
    if (!entry) return undefined
    entry.left -= 1
    if (entry.left <= 0) this.#entries = this.#entries.filter((other) => other !== entry)
    return entry.script
  }

  /** Scripts that no request has used up, standing ones left aside. */
  get pending(): number {
    return this.#entries.filter((entry) => entry.left !== Number.POSITIVE_INFINITY).length
  }

  clear(): void {
    this.#entries = []
  }
}

function matches(match: Match | undefined, request: RecordedRequest): boolean {
  if (match === undefined) return true
  if (typeof match === 'function') return match(request)
  const { path, model, stream, key, text } = match
  if (path !== undefined && !request.path.endsWith(path)) return false
  if (model !== undefined && field(request.body, 'model') !== model) return false
  if (stream !== undefined && (field(request.body, 'stream') === true) !== stream) return false
  if (key !== undefined && request.key !== key) return false
  if (typeof text === 'string') return request.rawBody.includes(text)
  return text === undefined || text.test(request.rawBody)
}

function field(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
}
