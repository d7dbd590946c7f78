import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type IpRanges, plainAddress, withoutPort } from '../../kit/http/ip-ranges.ts'

const peer = Symbol('peer')

/** Says whose request it is that another thread has forwarded. */
export function markForwarded(req: IncomingMessage, address: string): void {
  Object.defineProperty(req, peer, { value: address })
}

const peerOf = (req: IncomingMessage & { readonly [peer]?: string }): string =>
  req[peer] ?? req.socket.remoteAddress ?? ''

/** Whether a trusted proxy brought a request. */
export const isFromProxy = (req: IncomingMessage, trusted: IpRanges): boolean =>
  trusted.has(plainAddress(peerOf(req)))

/** The client's address: the socket's, or, behind trusted proxies, the right-most hop that is not one of them. */
export function clientAddress(req: IncomingMessage, trusted: IpRanges): string {
  const direct = plainAddress(peerOf(req))
  if (trusted.isEmpty) return direct
  const forwarded = req.headers['x-forwarded-for']
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
  let address = direct
  for (const hop of hops.map(withoutPort).reverse()) {
    if (!trusted.has(address) || isIP(hop) === 0) break
    address = plainAddress(hop)
  }
  return address
}
