import type { Cap, CapStanding, Claim, Left } from '#kernel'

/** The two counts of a cap: the amount spent and reserved in the period that runs, and the part that is reserved. */
export type Pair = readonly [spent: Claim, reserved: Claim]

/** More than anything costs, for counts that refuse nothing. */
export const unlimited = Number.MAX_SAFE_INTEGER

/** What calls with keys of their users cost is counted apart from what the operator pays. */
const unitOf = ({ ownKeys }: Cap): 'nano' | 'operator_nano' => (ownKeys ? 'nano' : 'operator_nano')

export const kindOf = ({ period }: Pick<Cap, 'period'>): 'day' | 'month' =>
  period === 'daily' ? 'day' : 'month'

/** Claims an amount under a cap. */
export function pairOf(cap: Cap, amount: number, most: number): Pair {
  const { timezone } = cap
  const [name, unit, kind] = [`${cap.scope}:${cap.holder}`, unitOf(cap), kindOf(cap)]
  return [
    { name, unit, amount, limit: { kind, most, timezone } },
    {
      name,
      unit: `reserved_${unit} ${kind} ${timezone}`,
      amount,
      limit: { kind: 'concurrency', most: unlimited },
    },
  ]
}

/** The most that a count may hold before a claim that is granted below such a share of a cap, in nano-dollars; -1 for nothing at all. */
export function mostBelow(share: number, mostNano: number): number {
  let most = Math.ceil(share * mostNano) - 1
  // The product may be rounded either way.
  while ((most + 1) / mostNano < share) most += 1
  while (most >= 0 && most / mostNano >= share) most -= 1
  return most
}

/** What a call has used, by the units of the claims. */
export const usedBy = ({ nano, ownKey }: { readonly nano: number; readonly ownKey: boolean }) => ({
  nano,
  operator_nano: ownKey ? 0 : nano,
})

/** Names a count of a configuration. */
export const countOf = (by: string, cap: Cap): string =>
  JSON.stringify([by, unitOf(cap), cap.period, cap.timezone, cap.scope, cap.holder])

/** Caps of a configuration that share a count, as those of a user by day that a module and an admin have set. */
export const sharedOf = (by: string, caps: readonly Cap[]): Cap[][] => [
  ...Map.groupBy(caps, (cap) => countOf(by, cap)).values(),
]

/** How the caps of a count stand, by the answers for its pair of claims. */
export const standingsOf = (
  caps: readonly Cap[],
  [count, reserved]: readonly [Left, Left],
  about: (cap: Cap) => Pick<CapStanding, 'mostNano' | 'resetsAt'>,
): CapStanding[] =>
  caps.map((cap) => ({
    cap,
    ...about(cap),
    spentNano: Math.max(0, count.used - reserved.used),
    reservedNano: reserved.used,
  }))
