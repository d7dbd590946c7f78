import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { createRequire } from 'node:module'
import ipaddr from 'ipaddr.js'
import type { Agent } from 'undici'
import { IpRanges, isIpRange } from '../kit/http/ip-ranges.ts'
import { HookFault } from '../kit/work/hook-fault.ts'

/** Public by their range, and yet doors to the inside of a cloud. */
const metadata = new Set(['168.63.129.16'])

const connectMs = 10_000

/** Finds all addresses of a name, in the manner of Node's `lookup`. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

/**
 * The places that requests of plugins may go to. Names are resolved first, and the connection is made to the very addresses
 * that were checked; redirects go the same way. An address that is not on the public internet is refused unless the operator
 * allowed it.
 */
export class Egress {
  readonly #resolve: Resolve
  readonly #hosts: ReadonlySet<string>
  readonly #networks: IpRanges

  /** `allow` names hosts, addresses and ranges; names are resolved as Node does unless `resolve` says otherwise. */
  constructor(allow: readonly string[], resolve: Resolve = lookup) {
    this.#resolve = resolve
    this.#hosts = new Set(allow.map((text) => text.toLowerCase()))
    this.#networks = new IpRanges(allow.filter(isIpRange))
  }

  /** Connections of one plugin to the hosts that it may reach. The caller closes it. */
  agent(plugin: string, hosts: readonly string[]): Agent {
    const { Agent, buildConnector } = createRequire(import.meta.url)('undici') as typeof import('undici')
    const connect = buildConnector({
      timeout: connectMs,
      lookup: (name, options, callback) =>
        this.#resolve(name, { ...options, all: true }, (error, found) => {
          const refusal = error ?? this.#refusalOf(name, found)
          if (refusal) callback(refusal, '', 0)
          else if (options.all) callback(null, found)
          else callback(null, found[0]!.address, found[0]!.family)
        }),
    })
    return new Agent({
      connect: (options, callback) => {
        const host = options.hostname.toLowerCase()
        const refusal = matchesHost(hosts, host)
          ? ipaddr.isValid(host) && this.#refusalOf(host, [{ address: host, family: 0 }])
          : new HookFault(
              `${plugin} reaches for ${host} without the permission "network:${host}": it must stand under ` +
                '"permissions" in its manifest',
            )
        if (refusal) callback(refusal, null)
        else connect(options, callback)
      },
    })
  }

  #refusalOf(host: string, found: readonly LookupAddress[]): HookFault | undefined {
    if (this.#hosts.has(host.toLowerCase())) return undefined
    const inside = found.map(({ address }) => ipaddr.process(address)).find((at) => !this.#isOpen(at))
    if (!inside) return undefined
    const range = inside.range() === 'unicast' ? 'metadata' : inside.range()
    return new HookFault(
      `${host} is at ${inside} (${range}), where plugins may not go; an operator can put it under egress.allow`,
    )
  }

  #isOpen(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    if (address.range() === 'unicast' && !metadata.has(address.toString())) return true
    return this.#networks.has(address.toString())
  }
}

/** Whether a host is among those that a list of permissions names. */
const matchesHost = (hosts: readonly string[], host: string): boolean =>
  hosts.some(
    (pattern) =>
      pattern === '*' || pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1))),
  )
