import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { contain } from '../work/contain.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

/**
 * Answers the requests of each connection one after the other, and reads no more of it while some wait. Node hands over at once
 * what a client sends without waiting for answers, hundreds of requests of one read, and they would keep all other clients waiting.
 */
export function oneByOne(answer: Answer): Answer {
  /** The last answer that waits on a connection. Others are not kept: what they hold would outlive its call. */
  const last = new WeakMap<Socket, ServerResponse>()
  return (req, res) => {
    const { socket } = req
    // Node gives its socket to an answer when those before it have left.
    const before = res.socket ? undefined : (last.get(socket) ?? underWay(socket))
    if (!before) {
      answer(req, res)
      return
    }
    last.set(socket, res)
    const take = contain('a request that waited', () => {
      if (socket.destroyed) return
      if (last.get(socket) === res) {
        last.delete(socket)
        socket.resume()
      }
      answer(req, res)
    })
    before.once('close', () => setImmediate(take))
    // Node reads on at the end of each request, and so up to the end of those that came together.
    process.nextTick(() => socket.pause())
  }
}

/** The answer that has the socket, which Node notes there. */
const underWay = (
  socket: Socket & { readonly _httpMessage?: ServerResponse | null },
): ServerResponse | undefined => socket._httpMessage ?? undefined
