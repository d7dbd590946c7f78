import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What an upstream saw of one request, for a test to assert on. */
export interface RecordedRequest {
  /** Its place among the requests of its method, from 1: a gateway that looks at its models now and then changes no id of an answer. */
  readonly ordinal: number
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Names and values alternating, in the order and the case they were sent in. */
  readonly rawHeaders: readonly string[]
  readonly rawBody: string
  /** The parsed body; undefined when it was empty or not JSON. */
  readonly body: unknown
  /** The key that the request carried, undefined without one. */
  readonly key: string | undefined
  /** Ordinal of the TCP connection, from 1: two requests with the same one shared it. */
  readonly connection: number
  readonly receivedAt: number
  /** Milliseconds until the answer was complete or its socket closed; undefined while it is open. */
  readonly closedAfterMs: number | undefined
  /** The client closed the socket before the answer was complete. */
  readonly aborted: boolean
  /** Chunks of the answer's body written so far. */
  readonly chunksSent: number
  /** Resolves when the answer is complete or its socket has closed. */
  readonly closed: Promise<void>
}

/** The writable side of a record, for the server that fills it. */
export class Recording implements RecordedRequest {
  readonly ordinal: number
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly rawBody: string
  readonly body: unknown
  readonly key: string | undefined
  readonly connection: number
  readonly receivedAt = Date.now()
  readonly closed: Promise<void>
  closedAfterMs: number | undefined
  aborted = false
  chunksSent = 0
  /** Set when it is this side that breaks the connection off, so that it does not count as the client's doing. */
  broken = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { rawBody, ordinal, connection }: Pick<RecordedRequest, 'rawBody' | 'ordinal' | 'connection'>,
  ) {
    const url = new URL(request.url ?? '/', 'http://upstream')
    this.method = request.method ?? 'GET'
    this.path = url.pathname
    this.query = url.searchParams
    this.headers = request.headers
    this.rawHeaders = request.rawHeaders
    this.rawBody = rawBody
    this.body = parse(rawBody)
    this.key = keyOf(request.headers)
    this.ordinal = ordinal
    this.connection = connection
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    const started = performance.now()
    response.on('close', () => {
      this.closedAfterMs = performance.now() - started
      this.aborted = !response.writableFinished && !this.broken
      resolve()
    })
  }
}

/** Numbers the connections of a server in the order they came. */
export class Connections {
  #numbers = new WeakMap<Socket, number>()
  #last = 0

  number(socket: Socket): number {
    const known = this.#numbers.get(socket)
    if (known !== undefined) return known
    this.#last += 1
    this.#numbers.set(socket, this.#last)
    return this.#last
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = headers.authorization?.match(/^Bearer\s+(.+)$/i)?.[1]
  const named = headers['x-api-key'] ?? headers['api-key'] ?? headers['x-goog-api-key']
  return bearer ?? (Array.isArray(named) ? named[0] : named)
}
