import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { type Token, token } from '../token.ts'
import type { Protocol, ProviderSpec } from './provider.ts'
import type { TargetHooks } from './routing.ts'

/** The chain's work around each attempt at a provider. A promise only where a module takes its time. */
export interface AttemptHooks {
  /** Asks the modules whether the attempt may be made; rejects with the refusal of one. They may add headers. */
  before(attempt: Attempt, call: Call, headers: Record<string, string>): void | Promise<void>
  /** What a provider says in its error, as the modules that guard answers let it pass; rejects with the refusal of one. */
  search(texts: readonly string[], call: Call): Promise<readonly string[]>
  /** Tells the modules how it went. */
  after(attempt: Attempt, call: Call): void | Promise<void>
  /** Tells them that it is over, also when it was refused. Undefined where no module asks. */
  readonly ended: ((attempt: Attempt, call: Call) => void | Promise<void>) | undefined
}

/** The parts that are switched on, as far as delivering a call depends on them. `contract/delivery.ts` says more of them. */
export interface Arrangement {
  /** By name; the manifests of providers that are switched on, also of those that could not start. */
  readonly providers: ReadonlyMap<string, ProviderSpec>
  readonly protocols: ReadonlyMap<string, Protocol>
  readonly services: ReadonlyMap<Token<unknown>, unknown>
  readonly attempts: AttemptHooks
  /** The hooks of modules for the places that calls may go to; undefined where none has one. */
  readonly targets?: TargetHooks | undefined
}

/** A key that one call brought with it, and the only provider that may have it. */
export interface OwnKey {
  readonly provider: string
  readonly key: object
}

/**
 * Carries a call to a provider, at the end of every chain. Resolves with a whole answer, or with a stream whose first content
 * is there. A call that needs its own key is not sent without it.
 */
export type Delivery = (call: Call, on: Arrangement, ownKey?: OwnKey) => Promise<Reply>

export const Delivery = token<Delivery>('delivery')
