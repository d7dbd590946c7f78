import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { badRequest } from '../../kit/errors.ts'
import { lingerMs, refusalOf } from './early-answer.ts'
import { maxHeaderSize, STATUS_CODES } from './node-http.ts'

const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, `The headers are larger than ${maxHeaderSize / 1024} KB, the limit here.`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come within the time for it.'],
}

/** Tells a client in the documented envelope why its bytes are no request, unless an answer is on its way already. */
export function refuseBytes({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  // Where Node keeps the answer that a connection is at; there is no other way to know.
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse }
  if (code === 'ECONNRESET' || !socket.writable || answer?.headersSent) {
    socket.destroy()
    return
  }
  const [status, message] = refusals[code] ?? [400, 'This is not a valid HTTP request.']
  const { headers, body } = refusalOf(badRequest(message, { status }))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
  // A connection with unread bytes that is destroyed at once loses what was sent.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
