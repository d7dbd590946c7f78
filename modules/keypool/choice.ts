import { type Credential, UpstreamError } from '#kernel'
import type { KeySelector } from '#provider'
import { type Rests, restOf } from './rests.ts'
import { type Turns, takeTurns } from './turns.ts'

type Destination = Parameters<KeySelector['order']>[0]

/**
 * The keys to try for a model, best first: those that do not rest in turn, then the one whose rest is over first, for
 * it may be good again. Never one that rests by its provider's word; when that is all of them, there is none.
 */
export function keysToTry(
  keys: readonly Credential[],
  model: string,
  { rests, turns }: { rests: Rests; turns: Turns },
  now: number,
): readonly Credential[] {
  if (rests.size === 0) return takeTurns(keys, turns)
  const awake: Credential[] = []
  let spare: { key: Credential; until: number } | undefined
  for (const key of keys) {
    const rest = restOf(rests, key, model, now)
    if (!rest) awake.push(key)
    else if (rest.reason !== 'told' && (!spare || rest.until < spare.until))
      spare = { key, until: rest.until }
  }
  return [...takeTurns(awake, turns), ...(spare ? [spare.key] : [])]
}

/** What a call is told when there is no key to try: to come back when the first of them may be tried. */
export function limited(
  { provider, model }: Destination,
  keys: readonly Credential[],
  rests: Rests,
  now: number,
): UpstreamError {
  const until = Math.min(...keys.map((key) => restOf(rests, key, model, now)?.until ?? now))
  const retryAfterS = Math.max(1, Math.ceil((until - now) / 1000))
  const message = `${provider.name} limits every key that the gateway has for it. Try again in ${retryAfterS} s.`
  const about = { provider: provider.name, model, fault: 'status', retryable: true, retryAfterS } as const
  return new UpstreamError('rate_limited', message, about)
}
