import { isIP } from 'node:net'
import type { ProviderSpec } from '#kernel'
import { IpRanges } from '#kit'

/** Where models run, as an option called `region` or `location` says. */
export function regionOf({ region, location }: Readonly<Record<string, unknown>>): string | undefined {
  const said = region ?? location
  return typeof said === 'string' && said !== '' ? said : undefined
}

const privateAddresses = new IpRanges([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
])

/**
 * Whether an address is on this machine or in its private network. A provider without an address answers from inside the gateway
 * when it stands in for all others, and else is somewhere.
 */
export function isLocal(address: string, { fallback }: Pick<ProviderSpec, 'fallback'>): boolean {
  if (address === '') return fallback
  const host = URL.parse(address)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  // Most hosts are names, for which the ranges would throw and catch an error each time the providers are made anew.
  if (isIP(host) !== 0) return privateAddresses.has(host)
  return /^localhost$|\.(localhost|local|internal)$/.test(host)
}
