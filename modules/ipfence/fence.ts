import ipaddr from 'ipaddr.js'

type Network = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** Which addresses may pass. What is denied is out, whatever is allowed; an empty `allow` lets in all others. */
export interface Lists {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** Why an address may not pass: `deny`, it is on that list; `allow`, it is not on that one. */
export type Fence = (address: string) => keyof Lists | undefined

/** One test for both lists; nothing when both are empty. What is not an address never passes. */
export function compileFence({ allow, deny }: Lists): Fence | undefined {
  if (allow.length === 0 && deny.length === 0) return undefined
  const allowed = allow.map(networkOf)
  const denied = deny.map(networkOf)
  return (text) => {
    if (!ipaddr.isValid(text)) return 'deny'
    const address = ipaddr.process(text)
    const isIn = ([network, bits]: Network): boolean =>
      network.kind() === address.kind() && address.match(network, bits)
    if (denied.some(isIn)) return 'deny'
    return allowed.length === 0 || allowed.some(isIn) ? undefined : 'allow'
  }
}

/** Whether this is an address or a CIDR range. IPv4 must be written in full: `10` and `012.0.0.1` are mistakes. */
export function isRange(text: string): boolean {
  const [address = ''] = text.split('/')
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return isAddress && (text.includes('/') ? ipaddr.isValidCIDR(text) : true)
}

/** Ranges of IPv4 addresses in IPv6 form become plain ones, as addresses do. */
function networkOf(range: string): Network {
  const [network, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), undefined]
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && (bits ?? 128) >= 96
  if (isMapped) return [network.toIPv4Address(), (bits ?? 128) - 96]
  return [network, bits ?? (network.kind() === 'ipv4' ? 32 : 128)]
}
