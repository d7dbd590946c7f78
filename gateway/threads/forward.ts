import type { IncomingMessage, ServerResponse } from 'node:http'
import { contain } from '../../kernel/contain.ts'
import { envelope, internalError } from '../../kernel/errors.ts'
import { endWithAnswer } from '../../kernel/http/early-answer.ts'
import { clientHeader, type MainEndpoint, secretHeader } from '../../kernel/http/forward.ts'
import { Agent, request } from '../../kernel/http/node-http.ts'
import { newId } from '../../kernel/id.ts'

/** Of one connection, not of the request. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'expect'])

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
      if (res.headersSent) res.destroy()
      else refuse(res, cause)
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

function refuse(res: ServerResponse, cause: Error): void {
  const error = internalError('The thread that answers this request cannot be reached.', { cause })
  res.writeHead(error.status, { 'content-type': 'application/json' })
  res.end(JSON.stringify(envelope(error, newId('req_'))))
}
