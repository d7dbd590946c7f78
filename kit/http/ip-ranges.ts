import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Addresses and CIDR ranges, parsed once. An IPv4 address in IPv6 form counts as the IPv4 address. */
export class IpRanges {
  readonly #networks: readonly (readonly [network: Address, bits: number])[]

  /** Throws for a text that `isIpRange` refuses. */
  constructor(ranges: readonly string[]) {
    this.#networks = ranges.map(networkIn)
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0
  }

  /** Whether an address lies in one of the ranges; false for a text that is no address. */
  has(address: string): boolean {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return this.#networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    )
  }
}

/** Whether a text is an address or a CIDR range. IPv4 must be written in full: `10` and `012.0.0.1` are mistakes. */
export function isIpRange(text: string): boolean {
  const [address = ''] = text.split('/')
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return isAddress && (!text.includes('/') || ipaddr.isValidCIDR(text))
}

function networkIn(range: string): readonly [Address, number] {
  const [network, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), undefined]
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && (bits ?? 128) >= 96
  if (isMapped) return [network.toIPv4Address(), (bits ?? 128) - 96]
  return [network, bits ?? network.toByteArray().length * 8]
}

/** An address with an IPv4 address in IPv6 form made plain. */
export const plainAddress = (address: string): string =>
  address.includes(':') && ipaddr.isValid(address) ? ipaddr.process(address).toString() : address

/** The address of a hop as proxies write it in `X-Forwarded-For`: some of them add the port. */
export const withoutPort = (hop: string): string =>
  hop.trim().replace(/^\[([\da-f:.]+)\](?::\d+)?$|^([\d.]+):\d+$/i, '$1$2')

/**
 * The part of the address space that counts as one client: an IPv4 address, or the 64 bits of IPv6 that come with a connection.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4)
  return `${new ipaddr.IPv6([...network, 0, 0, 0, 0])}/64`
}
