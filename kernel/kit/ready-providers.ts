import type { Credential, Provider } from '../upstream/provider.ts'

/**
 * Providers made ready for a key with what was fetched for it. The same object comes for the same three, so that what is
 * remembered of a provider is not worked out again for each call.
 */
export class ReadyProviders<T> {
  readonly #made = new WeakMap<Credential, { provider: Provider; fetched: T; ready: Provider }>()

  /** The provider that `make` made, or makes now. */
  get(key: Credential, provider: Provider, fetched: T, make: () => Provider): Provider {
    let known = this.#made.get(key)
    if (known?.provider !== provider || known.fetched !== fetched) {
      known = { provider, fetched, ready: make() }
      this.#made.set(key, known)
    }
    return known.ready
  }
}
