import { LRUCache } from 'lru-cache'
import type { Principal } from '../kernel/call/call.ts'
import { atMost } from '../kit/at-most.ts'
import { networkOf } from '../kit/http/ip-ranges.ts'

/** A key that was looked up, and whose it is. */
export interface Known {
  readonly principal: Principal
  readonly hash: Buffer
  /** The user whose key it is, also when that key is an admin's. */
  readonly holder: string | undefined
  readonly expires: number
  usedAt: number
  /** Addresses that it came from last, of a key that could be guessed. */
  readonly addresses: string[] | undefined
  /** Whether it is still what a look at the store would find. */
  holds: boolean
}

/** Addresses that are remembered of a key. */
const mostAddresses = 8

/** Notes that a key came from an address, and forgets the one that it came from longest ago. */
export function noteAddress(addresses: string[], address: string): void {
  if (addresses[0] === address) return
  const at = addresses.indexOf(address)
  if (at !== -1) addresses.splice(at, 1)
  else if (addresses.length === mostAddresses) addresses.pop()
  addresses.unshift(address)
}

/** Whether a known key came from this address before, or from one of the same network. */
export function cameFrom(known: Known | undefined, address: string): boolean {
  const network = networkOf(address)
  return known?.addresses?.some((other) => networkOf(other) === network) === true
}

/** A key as it was shown on a connection. */
interface Shown {
  readonly secret: string
  readonly known: Known
}

/** The keys used last, by their digests, until they are reported as changed. */
export class KnownKeys {
  readonly #byDigest = new LRUCache<string, Known>({
    ...atMost(20_000),
    dispose: (known) => {
      known.holds = false
    },
  })
  readonly #shown = new WeakMap<object, Shown>()

  get(digest: string): Known | undefined {
    return this.#byDigest.get(digest)
  }

  set(digest: string, known: Known): void {
    this.#byDigest.set(digest, known)
  }

  delete(digest: string): void {
    this.#byDigest.delete(digest)
  }

  /** Forgets all keys that a user holds. */
  deleteOf(holder: string): void {
    for (const [digest, known] of this.#byDigest.entries()) if (known.holder === holder) this.delete(digest)
  }

  clear(): void {
    this.#byDigest.clear()
  }

  /**
   * Remembers the last key of a connection: clients keep one for many calls, and comparing costs less than hashing. From
   * the time it takes a client learns no more than whether a key is the one that it has shown before.
   */
  show(connection: object, secret: string, known: Known): void {
    this.#shown.set(connection, { secret, known })
  }

  /** The result for this key from its last use on this connection, unless the key has changed since. */
  shownBefore(connection: object, secret: string): Known | undefined {
    const shown = this.#shown.get(connection)
    return shown?.known.holds && shown.secret === secret ? shown.known : undefined
  }
}
