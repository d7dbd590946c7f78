import type { z } from 'zod'
import { internalError, type Provider, type Target, type Token, token } from '#kernel'

/**
 * Makes of a provider's keys what goes with its requests: tokens that are fetched for a key and kept while they are good.
 * Offered by a plugin, and named by the providers that need it.
 */
export interface KeyExchange {
  /** The provider's options that it reads, for a check at start. */
  readonly options?: z.ZodObject
  /** The problem of a key's form, for people; undefined for a sound one. */
  problem(secret: string): string | undefined
  /**
   * The target as its protocol is to see it: with an address and headers, and without a key where the headers say it all.
   * Known answers come without a promise. Rejects with an UpstreamError.
   */
  ready(target: Target): Target | Promise<Target>
  /** The provider refused what was made of this key: it is not used again. */
  forget(target: Target): void
}

export const keyExchange = (name: string): Token<KeyExchange> => token(`key-exchange/${name}`)

type Services = ReadonlyMap<Token<unknown>, unknown>

/** The target as its protocol is to see it; itself for providers whose keys are sent as they are. */
export function readyTarget(target: Target, services: Services): Target | Promise<Target> {
  const exchange = exchangeOf(target.provider, services)
  return exchange ? exchange.ready(target) : target
}

/**
 * The provider refused the credential that was made of a key; it is not used again. A newer credential stays: many calls may be
 * refused with the same one, one after the other.
 */
export function forgetKey(target: Target, refused: Target, services: Services): void {
  const exchange = exchangeOf(target.provider, services)
  const now = exchange?.ready(target)
  if (now instanceof Promise) now.catch(() => {})
  else if (now?.provider === refused.provider && now.key === refused.key) exchange!.forget(target)
}

/** The problem of the form of a key for a provider, for people; undefined for a sound one. */
export function keyProblem(secret: string, provider: Provider, services: Services): string | undefined {
  const exchange = exchangeOf(provider, services)
  if (exchange) return exchange.problem(secret)
  return /\s/.test(secret) ? 'must be without spaces or line breaks.' : undefined
}

function exchangeOf({ name, spec }: Provider, services: Services): KeyExchange | undefined {
  if (spec.key_exchange === undefined) return undefined
  const exchange = services.get(keyExchange(spec.key_exchange)) as KeyExchange | undefined
  if (exchange) return exchange
  throw internalError(
    `The plugin that exchanges the keys of ${name} (${spec.key_exchange}) is not switched on.`,
  )
}
