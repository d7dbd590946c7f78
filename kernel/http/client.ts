import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

const peer = Symbol('peer')

/** Says whose request it is that another thread has forwarded. */
export function markForwarded(req: IncomingMessage, address: string): void {
  Object.defineProperty(req, peer, { value: address })
}

const peerOf = (req: IncomingMessage & { readonly [peer]?: string }): string =>
  req[peer] ?? req.socket.remoteAddress ?? ''

/** The client's address: the socket's, or, behind trusted proxies, the right-most hop that is not one of them. */
export function clientAddress(req: IncomingMessage, trusted: readonly string[]): string {
  const direct = normal(peerOf(req))
  if (trusted.length === 0) return direct
  const forwarded = req.headers['x-forwarded-for']
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
  let address = direct
  for (const hop of hops.map((hop) => hop.trim()).reverse()) {
    if (!inAny(address, trusted) || !ipaddr.isValid(hop)) break
    address = normal(hop)
  }
  return address
}

/** What one client has of the address space: an IPv4 address, or the 64 bits of IPv6 that come with a connection. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4)
  return `${new ipaddr.IPv6([...network, 0, 0, 0, 0])}/64`
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
