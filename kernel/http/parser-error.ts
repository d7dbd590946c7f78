import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { badRequest, envelope, type GatewayError } from '../errors.ts'
import { newId } from '../id.ts'
import { maxHeaderSize, STATUS_CODES } from './node-http.ts'

/** How long a client that sent no request may take to read why, in milliseconds. */
const lingerMs = 2_000

const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, `The headers are larger than ${maxHeaderSize / 1024} KB, the limit here.`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come within the time for it.'],
}

/** The refusal of bytes that Node could not parse as a request. */
function refusalOf({ code = '' }: NodeJS.ErrnoException): GatewayError {
  const [status, message] = refusals[code] ?? [400, 'This is not a valid HTTP request.']
  return badRequest(message, { status })
}

/** Tells a client in the documented envelope why its bytes are no request, unless an answer is on its way already. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  // Where Node keeps the answer that a connection is at; there is no other way to know.
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse }
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) {
    socket.destroy()
    return
  }
  const id = newId('req_')
  const refusal = refusalOf(error)
  const body = JSON.stringify(envelope(refusal, id))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // A connection with unread bytes that is destroyed at once loses what was sent.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
