import type { IncomingMessage, ServerResponse } from 'node:http'
import { retryHeaders } from '../../kit/calls/retry-headers.ts'
import { envelope, type GatewayError } from '../../kit/errors.ts'
import { newId } from '../../kit/id.ts'

/** How long a client that goes on sending is listened to, in milliseconds. */
export const lingerMs = 2_000

/**
 * Ends the connection with the answer to a request that is still coming. Bytes that come are dropped for a moment: closing a
 * connection with unread bytes would discard the answer that is on its way.
 */
export function endWithAnswer(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req
  res.setHeader('connection', 'close')
  // Node calls this when the last answer of a connection is written.
  socket.destroySoon = () => {
    for (const event of ['data', 'readable']) req.removeAllListeners(event)
    setImmediate(() => req.resume())
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  }
}

/** The headers and the body that refuse a request which nothing has looked at, in the documented envelope, and end its connection. */
export function refusalOf(error: GatewayError) {
  const id = newId('req_')
  const body = JSON.stringify(envelope(error, id))
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    connection: 'close',
    ...retryHeaders(error),
  }
  return { headers, body }
}

/** Refuses a request that nothing has looked at. */
export function refuse(res: ServerResponse, error: GatewayError): void {
  const { headers, body } = refusalOf(error)
  res.writeHead(error.status, headers).end(body)
}
