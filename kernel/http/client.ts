import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** The client's address: the socket's, or, behind trusted proxies, the right-most hop that is not one of them. */
export function clientAddress(req: IncomingMessage, trusted: readonly string[]): string {
  const peer = normal(req.socket.remoteAddress ?? '')
  if (trusted.length === 0) return peer
  const forwarded = req.headers['x-forwarded-for']
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
  let address = peer
  for (const hop of hops.map((hop) => hop.trim()).reverse()) {
    if (!inAny(address, trusted) || !ipaddr.isValid(hop)) break
    address = normal(hop)
  }
  return address
}

/** Whether an address lies in any of these addresses or CIDR ranges. */
export function inAny(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return ranges.some((range) => {
    const [network, bits] = rangeOf(range)
    return parsed.kind() === network.kind() && parsed.match(network, bits)
  })
}

function rangeOf(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!range.includes('/')) {
    const address = ipaddr.process(range)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  }
  return ipaddr.parseCIDR(range)
}

/** IPv4 addresses in IPv6 clothes become plain ones, so that a rule for one holds for the other. */
const normal = (address: string): string =>
  address.includes(':') && ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
