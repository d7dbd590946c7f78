import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long a client that goes on sending is listened to, in milliseconds. */
const lingerMs = 2_000

/**
 * Ends the connection with the answer to a request that is still coming. What comes is dropped for a moment: a connection that
 * is closed with unread bytes takes the answer back that is on its way.
 */
export function endWithAnswer(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req
  res.setHeader('connection', 'close')
  // What Node calls when the last answer of a connection is written.
  socket.destroySoon = () => {
    for (const event of ['data', 'readable']) req.removeAllListeners(event)
    setImmediate(() => req.resume())
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
