import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openai } from './openai/index.ts'
import { Connections, type RecordedRequest, Recording } from './record.ts'
import { type Match, type Script, ScriptQueue } from './script.ts'
import { transmit } from './transmit.ts'
import type { Answer, Rules, Wire } from './wire.ts'

export interface UpstreamOptions {
  /** Keys that are let in, `sk-test` by default; an empty list lets in all. */
  readonly apiKey?: string | readonly string[]
  /** Refuse what the real service refuses; true by default. */
  readonly strict?: boolean
  /** Models that exist and are listed; by default any is served and three are listed. */
  readonly models?: readonly string[]
  /** Dialects spoken on this port, the OpenAI one by default; the first answers unknown paths. */
  readonly wires?: readonly [Wire, ...Wire[]]
  /** 0, any free port, by default. */
  readonly port?: number
}

/** An LLM service on a port of 127.0.0.1 that does as it is told and remembers what it was sent. */
export interface Upstream {
  /** Origin without a path, such as `http://127.0.0.1:40123`. */
  readonly url: string
  readonly port: number
  /** The base URL a client of this wire is given; `openai`'s ends with `/v1`. */
  baseUrl(wire?: string): string
  /** All requests, refused ones included, in the order their bodies were complete. */
  readonly requests: readonly RecordedRequest[]
  /** The newest request; throws when there is none. */
  last(): RecordedRequest
  /** Resolves with the n-th request (from 1), as soon as it has come. */
  received(n: number): Promise<RecordedRequest>
  /** Queues a script for the next request (that matches); `times` makes it serve more than one. */
  reply(script: Script): void
  reply(match: Match, script: Script): void
  /** Scripts that no request has used up. */
  readonly pending: number
  /** Forgets scripts and requests. */
  reset(): void
  /** Closes the port and all of its connections. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a fake upstream; listening when it resolves. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const wires = options.wires ?? [openai]
  const rules = rulesOf(options)
  const scripts = new ScriptQueue()
  const connections = new Connections()
  const requests: Recording[] = []
  const waiting: { n: number; resolve: (request: RecordedRequest) => void }[] = []

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = connections.number(request.socket)
    const rawBody = await text(request).catch(() => undefined)
    if (rawBody === undefined) return
    const ordinal = requests.filter(({ method }) => method === request.method).length + 1
    const recording = new Recording(request, response, { rawBody, ordinal, connection })
    requests.push(recording)
    for (const waiter of waiting) if (waiter.n === requests.length) waiter.resolve(recording)
    const wire = wires.find((wire) => wire.serves(recording)) ?? wires[0]
    const refusal = wire.refuse(recording, rules)
    const script = refusal ? {} : (scripts.take(recording) ?? {})
    await transmit(refusal ?? answerTo(recording, script, wire, rules), script, recording, response)
  }

  // It closes no idle connection: on a slow machine the gateway could use one in the same moment.
  const server = createServer({ noDelay: true, keepAliveTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`fake upstream: ${String(error)}`)
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  async function close(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  return {
    url,
    port,
    requests,
    baseUrl(name = wires[0].name) {
      const wire = wires.find((wire) => wire.name === name)
      if (!wire)
        throw new Error(`this upstream does not speak ${name}; list its wire in startUpstream({ wires })`)
      return url + wire.basePath
    },
    last() {
      const request = requests.at(-1)
      if (!request) throw new Error('the upstream has had no request')
      return request
    },
    received(n) {
      const request = requests[n - 1]
      if (request) return Promise.resolve(request)
      return new Promise((resolve) => waiting.push({ n, resolve }))
    },
    reply(first: Match | Script, second?: Script) {
      if (second) scripts.add(first as Match, second)
      else scripts.add(undefined, first as Script)
    },
    get pending() {
      return scripts.pending
    },
    reset() {
      scripts.clear()
      requests.length = 0
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function rulesOf(options: UpstreamOptions): Rules {
  const keys = options.apiKey ?? 'sk-test'
  return {
    keys: typeof keys === 'string' ? [keys] : keys,
    strict: options.strict ?? true,
    models: options.models,
  }
}

function answerTo(request: RecordedRequest, script: Script, wire: Wire, rules: Rules): Answer {
  const status = script.status ?? (script.retryAfter === undefined ? undefined : 429)
  if (script.garbage !== undefined) {
    const shell = wire.respond(request, { ...script, chunks: [], body: '' }, rules)
    return { ...shell, status: status ?? shell.status, frames: [script.garbage] }
  }
  if (status !== undefined && status >= 400 && script.body === undefined) {
    return wire.fail(request, script, status)
  }
  const answer = wire.respond(request, script, rules)
  return { ...answer, status: status ?? answer.status }
}
