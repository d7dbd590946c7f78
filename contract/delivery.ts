import type { Call } from '../kernel/call/call.ts'
import type { Reply } from '../kernel/call/reply.ts'
import type { Arrangement as CallArrangement } from '../kernel/contract/delivery.ts'
import { token } from '../kernel/token.ts'
import type { Credential, Protocol, ProviderSpec } from './provider.ts'

/** The parts that are switched on, as far as delivering a call depends on them. */
export interface Arrangement extends CallArrangement {
  /** By name; the manifests of providers that are switched on, also of those that could not start. */
  readonly providers: ReadonlyMap<string, ProviderSpec>
  readonly protocols: ReadonlyMap<string, Protocol>
}

/** A key that one call brought with it, and the only provider that may have it. */
export interface OwnKey {
  readonly provider: string
  readonly key: Credential
}

/**
 * Carries a call to a provider, at the end of every chain. Resolves with a whole answer, or with a stream whose first content
 * is there. A call that needs its own key is not sent without it.
 */
export type Delivery = (call: Call, on: Arrangement, ownKey?: OwnKey) => Promise<Reply>

/** The token under which the kernel knows it too. */
export const Delivery = token<Delivery>('delivery')
