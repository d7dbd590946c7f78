import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { contain } from '../work/contain.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

/**
 * Answers the requests of each connection one after the other, and reads no more of it while some wait. Node hands over at once
 * what a client sends without waiting for answers, hundreds of requests of one read, and they would keep all other clients waiting.
 */
export function oneByOne(answer: Answer): Answer {
  const latest = new WeakMap<Socket, ServerResponse>()
  return (req, res) => {
    const { socket } = req
    // Node gives its socket to an answer when those before it have left.
    const before = res.socket ? undefined : latest.get(socket)
    latest.set(socket, res)
    if (!before) {
      answer(req, res)
      return
    }
    const take = contain('a request that waited', () => {
      if (socket.destroyed) return
      if (latest.get(socket) === res) socket.resume()
      answer(req, res)
    })
    before.once('close', () => setImmediate(take))
    // Node reads on at the end of each request, and so up to the end of those that came together.
    process.nextTick(() => socket.pause())
  }
}
