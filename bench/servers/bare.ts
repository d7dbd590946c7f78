import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { serve } from './serve.ts'

/** Which of undici's calls carries the request to the upstream. */
export type Transport = 'dispatch' | 'stream' | 'request'

/**
 * The floor: node:http in front, undici behind, bytes passed through unread. Small replies are collected and sent
 * in one piece, streams are written as they come, both as a gateway would do it.
 */
const [upstream, transport] = process.argv.slice(2)
const pool = new Pool(upstream ?? '', { connections: 256, pipelining: 1 })

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    forward(optionsOf(request, body), response).catch((error: Error) => response.destroy(error))
  })
})

serve(server)

function optionsOf(request: IncomingMessage, body: Buffer) {
  const headers = {
    'content-type': 'application/json',
    authorization: request.headers.authorization ?? '',
  }
  return { path: request.url ?? '/', method: 'POST' as const, headers, body }
}

type Options = ReturnType<typeof optionsOf>

async function forward(options: Options, response: ServerResponse): Promise<void> {
  if (transport === 'stream') return forwardByStream(options, response)
  if (transport === 'request') return forwardByRequest(options, response)
  pool.dispatch(options, new Passthrough(response))
}

class Passthrough implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  readonly #pieces: Buffer[] = []
  #live = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('client left'))
    })
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const type = String(headers['content-type'])
    this.#live = type.startsWith('text/event-stream')
    this.#response.statusCode = status
    this.#response.setHeader('content-type', type)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#live) {
      this.#pieces.push(chunk)
    } else if (!this.#response.write(chunk)) {
      controller.pause()
      this.#response.once('drain', () => controller.resume())
    }
  }

  onResponseEnd(): void {
    if (this.#live) this.#response.end()
    else sendWhole(this.#response, this.#pieces)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#response.destroy(error)
  }
}

async function forwardByRequest(options: Options, response: ServerResponse): Promise<void> {
  const reply = await pool.request(options)
  const type = String(reply.headers['content-type'])
  response.statusCode = reply.statusCode
  response.setHeader('content-type', type)
  if (type.startsWith('text/event-stream')) {
    reply.body.on('error', (error) => response.destroy(error)).pipe(response)
  } else {
    sendWhole(response, [Buffer.from(await reply.body.bytes())])
  }
}

async function forwardByStream(options: Options, response: ServerResponse): Promise<void> {
  await pool.stream(options, ({ statusCode, headers }) => {
    response.statusCode = statusCode
    response.setHeader('content-type', String(headers['content-type']))
    if (headers['content-length']) response.setHeader('content-length', String(headers['content-length']))
    return response
  })
}

function sendWhole(response: ServerResponse, pieces: readonly Buffer[]): void {
  const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  response.setHeader('content-length', body.length)
  response.end(body)
}
