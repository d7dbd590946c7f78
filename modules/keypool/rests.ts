import type { Credential, UpstreamError } from '#kernel'

/** Why a key is left alone: it is limited and said for how long, or did not say; or it was refused. */
export type Reason = 'told' | 'guessed' | 'refused'

/** A time in which a key is left alone. Plain data. */
export interface Rest {
  readonly reason: Reason
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly until: number
  /** Rests in a row without a word of the provider on their length. */
  readonly guesses: number
}

export interface RestRules {
  /** First rest after a 429 that says nothing, doubled each time. */
  readonly cooldownMs: number
  /** Longest rest after a 429, whatever it says. */
  readonly maxCooldownMs: number
  readonly quarantineMs: number
}

/** Rests by `nameOf`. */
export type Rests = Map<string, Rest>

/**
 * Limits, and refusals with 403, count for a key and a model: otherwise a caller who asks for a model that a key may not use
 * would put the key out of use for all callers. A refusal with 401 counts for the whole key.
 */
export const nameOf = ({ id }: Credential, model?: string): string =>
  model === undefined ? id : `${id} ${model}`

/** The rest a key has now: of two, the one that ends later. */
export function restOf(rests: Rests, key: Credential, model: string, now: number): Rest | undefined {
  const own = running(rests.get(nameOf(key)), now)
  const here = running(rests.get(nameOf(key, model)), now)
  return own && here ? (own.until > here.until ? own : here) : (own ?? here)
}

const running = (rest: Rest | undefined, now: number): Rest | undefined =>
  rest && rest.until > now ? rest : undefined

/** Notes that a try went well: it ends every rest but one that the provider asked for and that still runs. */
export function noteSuccess(rests: Rests, key: Credential, model: string, now: number): void {
  if (rests.size === 0) return
  for (const name of [nameOf(key), nameOf(key, model)]) {
    const rest = rests.get(name)
    if (rest && (rest.reason !== 'told' || rest.until <= now)) rests.delete(name)
  }
}

/** Notes a failed try. Returns the rest that begins with it; nothing when it begins none, or prolongs one. */
export function noteFailure(
  rests: Rests,
  key: Credential,
  error: UpstreamError,
  rules: RestRules,
  now: number,
): Rest | undefined {
  const name = nameOf(key, error.providerStatus === 401 ? undefined : error.model)
  const before = rests.get(name)
  const rest = restAfter(error, before, rules, now)
  if (!rest) return undefined
  const still = running(before, now)
  // Calls that were under way when the rest began are no reason to guess anew.
  if (still && (rest.reason === 'guessed' || rest.until <= still.until)) return undefined
  forgetOld(rests, rules, now)
  rests.set(name, rest)
  return still ? undefined : rest
}

function restAfter(
  error: UpstreamError,
  before: Rest | undefined,
  rules: RestRules,
  now: number,
): Rest | undefined {
  const { providerStatus: status, retryAfterS } = error
  if (status === 401 || status === 403) {
    return { reason: 'refused', status, until: now + rules.quarantineMs, guesses: 0 }
  }
  if (status !== 429) return undefined
  if (retryAfterS !== undefined) {
    const ms = Math.min(retryAfterS * 1000, rules.maxCooldownMs)
    return { reason: 'told', status, until: now + ms, guesses: 0 }
  }
  const guesses = (before?.guesses ?? 0) + 1
  const ms = Math.min(rules.cooldownMs * 2 ** (guesses - 1), rules.maxCooldownMs)
  return { reason: 'guessed', status, until: now + ms, guesses }
}

/** Keeps rests that ended lately: the next guess doubles theirs. */
function forgetOld(rests: Rests, { maxCooldownMs }: RestRules, now: number): void {
  for (const [name, { until }] of rests) if (until + maxCooldownMs < now) rests.delete(name)
}
