import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { markForwarded } from '../../kernel/http/client.ts'
import { endWithAnswer, refuse } from '../../kernel/http/early-answer.ts'
import { Agent, request } from '../../kernel/http/node-http.ts'
import { closeServer, serve } from '../../kernel/http/server.ts'
import { internalError } from '../../kit/errors.ts'
import { contain } from '../../kit/work/contain.ts'

/** Of one connection, not of the request. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'expect'])
const secretHeader = 'x-forward-secret'
const clientHeader = 'x-forward-for'

/** Where the first thread answers what other threads forward to it. */
export interface MainEndpoint {
  readonly port: number
  readonly secret: string
}

/** Whether a request was forwarded by a thread of ours; then it is as if the client had sent it here. */
function acceptForwarded(req: IncomingMessage, secret: string): boolean {
  const [given, client] = [Buffer.from(String(req.headers[secretHeader])), String(req.headers[clientHeader])]
  const expected = Buffer.from(secret)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  delete req.headers[secretHeader]
  delete req.headers[clientHeader]
  markForwarded(req, client)
  return true
}

/** Answers what other threads forward, on a port of this machine only. The connection of any other request is closed. */
export class ForwardedServer {
  readonly #server: ReturnType<typeof serve>
  readonly #secret = randomBytes(32).toString('base64url')

  constructor(requestTimeout: number, answer: (req: IncomingMessage, res: ServerResponse) => void) {
    this.#server = serve(requestTimeout, (req, res) => {
      if (acceptForwarded(req, this.#secret)) answer(req, res)
      else req.socket.destroy()
    })
  }

  async listen(): Promise<MainEndpoint> {
    this.#server.listen({ port: 0, host: '127.0.0.1' })
    await once(this.#server, 'listening')
    return { port: (this.#server.address() as AddressInfo).port, secret: this.#secret }
  }

  close(): Promise<void> {
    return closeServer(this.#server)
  }
}

/** Forwards requests to the first thread, and its answers back as they come. Resolves when a request is over. */
export function forwardTo({
  port,
  secret,
}: MainEndpoint): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const agent = new Agent({ keepAlive: true })
  return async (req, res) => {
    const headers = [
      ...kept(req.rawHeaders, new Set([...ofConnection, secretHeader, clientHeader])),
      ...[secretHeader, secret, clientHeader, req.socket.remoteAddress ?? ''],
    ]
    const { method, url: path } = req
    const onward = request({ host: '127.0.0.1', port, agent, method, path, headers, setHost: false })
    const pass = contain('an answer of the first thread', (answer: IncomingMessage) => {
      answer.on('error', () => res.destroy())
      if (!req.complete) {
        req.unpipe(onward)
        endWithAnswer(req, res)
      }
      res.writeHead(answer.statusCode!, answer.statusMessage, kept(answer.rawHeaders, ofConnection))
      answer.pipe(res)
    })
    const fail = contain('a request to the first thread', (cause: Error) => {
      if (res.headersSent) return res.destroy()
      if (!req.complete) endWithAnswer(req, res)
      refuse(res, internalError('The thread that answers this request cannot be reached.', { cause }))
    })
    onward.on('response', pass)
    onward.on('error', fail)
    req.pipe(onward)
    await new Promise<void>((resolve) => {
      res.once('close', () => {
        onward.destroy()
        resolve()
      })
    })
  }
}

/** Headers as they were written, without some. */
function kept(rawHeaders: readonly string[], without: ReadonlySet<string>): string[] {
  return rawHeaders.filter((_, at) => !without.has(rawHeaders[at - (at % 2)]!.toLowerCase()))
}
