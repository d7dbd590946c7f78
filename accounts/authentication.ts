import { timingSafeEqual } from 'node:crypto'
import type { Principal } from '../kernel/call/call.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Collection } from '../storage/index.ts'
import { hashOf, isMadeHere, keyStatus } from './key.ts'
import type { Keys } from './keys.ts'
import { cameFrom, type Known, KnownKeys, noteAddress } from './known-keys.ts'
import type { Key, User } from './records.ts'

/** A key's use is noted this often at the most. */
const noteEveryMs = 60_000

const adminPlan = 'team'

/** Finds the principals of keys. Keys are found by hash, and a change to one holds for the next request. */
export class Authentication {
  readonly #keys: Pick<Keys, 'byHash' | 'find' | 'lastUse' | 'use'>
  readonly #users: Pick<Collection<User>, 'get'>
  #adopted: { readonly digest: string; readonly known: Known } | undefined
  readonly #known = new KnownKeys()
  /** Counts changes: what was read before one is not remembered after it. */
  #changes = 0

  constructor(keys: Keys, users: Collection<User>) {
    this.#keys = keys
    this.#users = users
    users.watch(({ id }) => {
      this.#changes += 1
      this.#known.deleteOf(id)
    })
    keys.watch((key) => {
      this.#changes += 1
      if (key) this.#known.delete(key.hash)
      else this.#known.clear()
    })
  }

  /** The principal of a key that came on this connection from this address. Known keys are answered without a promise. */
  authenticate(
    secret: string,
    connection?: object,
    address?: string,
  ): Principal | undefined | Promise<Principal | undefined> {
    const shown = connection && this.#known.shownBefore(connection, secret)
    if (shown) return this.#accept(shown, address)
    const digest = hashOf(secret)
    const known = this.#knownBy(digest)
    if (!known) return this.#look(digest, isMadeHere(secret), address)
    if (!timingSafeEqual(known.hash, Buffer.from(digest))) return undefined
    if (connection) this.#known.show(connection, secret, known)
    return this.#accept(known, address)
  }

  /** The values that `holderOf` finds a key by; undefined for an id that no key has. */
  async digestOf(keyId: string): Promise<string | undefined> {
    if (this.#adopted?.known.principal.keyId === keyId) return this.#adopted.digest
    return (await this.#keys.find(keyId))?.hash
  }

  /** The principal of the key with this digest, as long as it works. */
  holderOf(digest: string): Awaitable<Principal | undefined> {
    const known = this.#knownBy(digest)
    return known ? this.#accept(known, undefined) : this.#look(digest, false, undefined)
  }

  /**
   * Whether a key from this address cannot be a guess: it has the 256 random bits of keys made here, or it has come from this
   * address before and was valid.
   */
  isNoGuess(secret: string, address: string): boolean {
    return isMadeHere(secret) || cameFrom(this.#knownBy(hashOf(secret)), address)
  }

  #knownBy(digest: string): Known | undefined {
    return this.#adopted?.digest === digest ? this.#adopted.known : this.#known.get(digest)
  }

  async #look(
    digest: string,
    isRandom: boolean,
    address: string | undefined,
  ): Promise<Principal | undefined> {
    const changes = this.#changes
    const key = await this.#keys.byHash(digest)
    if (!key || keyStatus(key) !== 'active') return undefined
    const principal = await this.#principalOf(key)
    if (!principal) return undefined
    const known: Known = {
      principal,
      hash: Buffer.from(key.hash),
      holder: key.user_id,
      expires: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
      usedAt: this.#keys.lastUse(key.id),
      addresses: isRandom ? undefined : [],
      holds: changes === this.#changes,
    }
    if (!timingSafeEqual(known.hash, Buffer.from(digest))) return undefined
    if (known.holds) this.#known.set(digest, known)
    return this.#accept(known, address)
  }

  /** The principal of a key, for calls in its name; undefined if the key no longer works. */
  async principalOf(keyId: string): Promise<Principal | undefined> {
    const adopted = this.#adopted?.known.principal
    if (adopted?.keyId === keyId) return adopted
    const key = await this.#keys.find(keyId)
    return key && keyStatus(key) === 'active' ? this.#principalOf(key) : undefined
  }

  async #principalOf({ id, type, user_id }: Key): Promise<Principal | undefined> {
    const user = user_id === undefined ? undefined : await this.#users.get(user_id)
    if (user_id !== undefined && !user) return undefined
    const self = type === 'user' ? user : undefined
    return { type, keyId: id, userId: self?.id, plan: self?.plan ?? adminPlan, tenant: undefined }
  }

  #accept(known: Known, address: string | undefined): Principal | undefined {
    const now = Date.now()
    if (now >= known.expires) return undefined
    if (known.addresses && address !== undefined) noteAddress(known.addresses, address)
    if (now - known.usedAt >= noteEveryMs) {
      known.usedAt = now
      this.#keys.use(known.principal.keyId, now)
    }
    return known.principal
  }

  /** Accepts a key of the configuration as an admin's, as long as this process runs. Its use is not noted. */
  adopt(secret: string): void {
    const digest = hashOf(secret)
    const known: Known = {
      principal: {
        type: 'admin',
        keyId: 'key_configured',
        userId: undefined,
        plan: adminPlan,
        tenant: undefined,
      },
      hash: Buffer.from(digest),
      holder: undefined,
      expires: Number.POSITIVE_INFINITY,
      usedAt: Number.POSITIVE_INFINITY,
      addresses: isMadeHere(secret) ? undefined : [],
      holds: true,
    }
    if (this.#adopted) this.#adopted.known.holds = false
    this.#adopted = { digest, known }
  }
}
