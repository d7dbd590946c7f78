/** Something that was made for a key, and until when it is good, in milliseconds since the epoch. */
export interface AccessToken<T> {
  readonly value: T
  readonly expiresAt: number
}

interface Held<T> {
  readonly token: AccessToken<T> | undefined
  /** From when on a newer one is fetched while this one is still used. */
  readonly staleAt: number
  readonly fetching: Promise<T> | undefined
}

/** The most that is left of a token's time when a newer one is fetched. */
const earlyMs = 5 * 60_000
/** A token is not sent when it may end on its way. */
const marginMs = 10_000
/** How long a refresh that failed is not tried again while the old token is good. */
const pauseMs = 15_000

/**
 * Tokens by the keys they were made for. Each is fetched once however many ask at a time, and replaced before it ends
 * while no call waits; when that fails, the old one is used while it lasts. Gone with the key object.
 */
export class AccessTokens<T> {
  readonly #held = new WeakMap<object, Held<T>>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The token for a key; known ones come without a promise. Rejects as `fetch` does, which is then called again next time. */
  get(key: object, fetch: () => Promise<AccessToken<T>>): T | Promise<T> {
    const held = this.#held.get(key)
    const now = this.#now()
    if (held?.token && now < held.token.expiresAt - marginMs) {
      if (now >= held.staleAt && !held.fetching) void this.#fetch(key, held, fetch).catch(() => undefined)
      return held.token.value
    }
    return held?.fetching ?? this.#fetch(key, held, fetch)
  }

  /** Forgets the token of a key. */
  forget(key: object): void {
    this.#held.delete(key)
  }

  #fetch(key: object, before: Held<T> | undefined, fetch: () => Promise<AccessToken<T>>): Promise<T> {
    const fetching = fetch().then(
      (token) => {
        const lifetime = token.expiresAt - this.#now()
        const staleAt = token.expiresAt - Math.min(earlyMs, lifetime / 2)
        if (this.#held.get(key)?.fetching === fetching)
          this.#held.set(key, { token, staleAt, fetching: undefined })
        return token.value
      },
      (error: unknown) => {
        const staleAt = this.#now() + pauseMs
        if (this.#held.get(key)?.fetching === fetching)
          this.#held.set(key, { token: before?.token, staleAt, fetching: undefined })
        throw error
      },
    )
    this.#held.set(key, { token: before?.token, staleAt: before?.staleAt ?? 0, fetching })
    return fetching
  }
}
