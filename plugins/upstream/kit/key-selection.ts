import { type Call, type Credential, type Target, token, type UpstreamError } from '#kernel'

/** A provider and a model there. */
export type Destination = Pick<Target, 'provider' | 'model'>

/** Chooses among the keys of a provider, and learns how they did. A plugin may offer one. */
export interface KeySelector {
  /**
   * The keys worth trying, best first: the next one is tried where a provider refuses one (401, 403, 429). Throws an
   * UpstreamError, which says when to come back, while none may be tried.
   */
  order(to: Destination, keys: readonly Credential[], call: Call): readonly Credential[]
  /** How a try went: without an error it brought an answer, or the first content of a stream. */
  report(to: Destination, key: Credential, error: UpstreamError | undefined): void
}

export const KeySelection = token<KeySelector>('key-selection')
