import { LRUCache } from 'lru-cache'
import { atMost } from '../../kit/at-most.ts'
import { networkOf } from '../../kit/http/ip-ranges.ts'
import { type WindowCount, WindowCounts } from '../../kit/work/window-counts.ts'
import type { Log } from '../log.ts'
import type { Bound, Relay } from '../plugin/relay.ts'
import type { Refusals } from '../refusals.ts'

interface FailedKeysParts {
  /** Failures a minute from one address after which it has to wait; 0 for never. */
  readonly limit: number
  readonly relay: Relay
  /** Of the first thread. */
  readonly refusals: Refusals
  readonly log: Log
}

const windowMs = 60_000

/** Addresses that are known to have to wait. */
const mostAddresses = 10_000

/**
 * How often keys have failed from each address. The first thread counts for all. Each other thread knows of those
 * addresses that have failed in it, so that with N threads N - 1 keys too many are looked at, and refused.
 */
export class FailedKeys {
  readonly #limit: number
  /** Counts a failure of an address in its minute. */
  readonly #count: Bound<string, WindowCount | Promise<WindowCount | undefined>>
  /** Until when an address has to wait, in milliseconds since the epoch. */
  readonly #waits = new LRUCache<string, number>(atMost(mostAddresses))

  constructor({ limit, relay, refusals, log }: FailedKeysParts) {
    const failures = new WindowCounts(windowMs)
    this.#limit = limit
    this.#count = relay.bindAnswer('kernel/failed-keys', (network: string) => {
      const counted = failures.add(network)
      refusals.failedKeys += 1
      if (counted.count === limit) log.warn({ address: network }, 'keys keep failing from an address')
      return counted
    })
  }

  /** For how many seconds no more keys are tried from an address, 0 when they are. */
  waitS(address: string): number {
    if (this.#waits.size === 0) return 0
    const until = this.#waits.get(networkOf(address)) ?? 0
    return Math.max(0, Math.ceil((until - Date.now()) / 1000))
  }

  /** Counts a failure; resolves with the seconds to wait, 0 when it was not one too many. */
  async add(address: string): Promise<number> {
    if (this.#limit === 0) return 0
    const network = networkOf(address)
    const failures = await this.#count.call(network)
    if (!failures || failures.count < this.#limit) return 0
    this.#waits.set(network, Date.now() + failures.leftS * 1000)
    return failures.count === this.#limit ? 0 : failures.leftS
  }
}
