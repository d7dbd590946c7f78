import type { Credential } from '#kernel'
import { type Rest, type Rests, restOf } from './rests.ts'
import { type Turns, takeTurns } from './turns.ts'

interface Resting {
  readonly key: Credential
  readonly rest: Rest
}

/**
 * The keys to try for a model, best first; there always is one. Those that do not rest come in turn, then one whose rest
 * is only guessed. When all rest, the one whose rest is over first is tried, for it may be good again: a limited one
 * before one that was refused.
 */
export function keysToTry(
  keys: readonly Credential[],
  model: string,
  { rests, turns }: { rests: Rests; turns: Turns },
  now: number,
): readonly Credential[] {
  if (rests.size === 0) return takeTurns(keys, turns)
  const awake: Credential[] = []
  const resting: Resting[] = []
  for (const key of keys) {
    const rest = restOf(rests, key, model, now)
    if (rest) resting.push({ key, rest })
    else awake.push(key)
  }
  const spare = awake.length === 0 ? resting : resting.filter(({ rest }) => rest.reason === 'guessed')
  return [
    ...takeTurns(awake, turns),
    ...spare
      .toSorted(byPromise)
      .slice(0, 1)
      .map(({ key }) => key),
  ]
}

const byPromise = ({ rest: a }: Resting, { rest: b }: Resting): number =>
  Number(a.reason === 'refused') - Number(b.reason === 'refused') || a.until - b.until
