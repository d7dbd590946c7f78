import type { Credential } from '#kernel'

/** How far each key of a provider has come. Plain data. */
export interface Turns {
  /** Where the key that was used last stood before. */
  now: number
  readonly passes: Map<string, number>
}

export const newTurns = (): Turns => ({ now: 0, passes: new Map() })

/**
 * The keys, least used first for their weights, and a turn taken for the first. Stride scheduling (Waldspurger and
 * Weihl, 1995): over any stretch each key gets its share to within one call. A key that is new or was resting starts
 * where the others are, so that it is not flooded to catch up. One of weight 0 comes when there is no other.
 */
export function takeTurns(keys: readonly Credential[], turns: Turns): readonly Credential[] {
  if (keys.length < 2) return keys
  const passOf = ({ id, weight }: Credential): number =>
    weight > 0 ? Math.max(turns.passes.get(id) ?? 0, turns.now) : Number.POSITIVE_INFINITY
  const waiting = keys.map((key) => ({ key, pass: passOf(key) }))
  waiting.sort((a, b) => (a.pass === b.pass ? b.key.weight - a.key.weight : a.pass - b.pass))
  const { key, pass } = waiting[0]!
  if (key.weight > 0) {
    turns.now = pass
    turns.passes.set(key.id, pass + 1 / key.weight)
  }
  return waiting.map((turn) => turn.key)
}
