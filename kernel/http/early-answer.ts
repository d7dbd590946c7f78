import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long a client that goes on sending is listened to, in milliseconds. */
const lingerMs = 2_000

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
