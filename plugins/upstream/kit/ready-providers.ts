import type { Credential, Provider, Target } from '#kernel'

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

  /** The target with that provider, and without its key: what was fetched for the key, or is being, goes in its place. */
  ready(
    target: Target,
    key: Credential,
    fetched: T | Promise<T>,
    make: (fetched: T) => Provider,
  ): Target | Promise<Target> {
    if (fetched instanceof Promise) return fetched.then((value) => this.ready(target, key, value, make))
    const provider = this.get(key, target.provider, fetched, () => make(fetched))
    return { ...target, provider, key: undefined }
  }
}
