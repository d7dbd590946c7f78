import type { AnomalyKind, AnomalySeverity } from '#kernel'
import { type AnomalyRow, ownerOf } from './row.ts'

/** Which anomalies; all conditions must hold. */
export interface Filter {
  readonly kind?: AnomalyKind | undefined
  readonly severity?: AnomalySeverity | undefined
  readonly acknowledged?: boolean | undefined
  readonly model?: string | undefined
  /** Of this user's calls. */
  readonly user?: string | undefined
  /** Those that this user may see. */
  readonly owner?: string | undefined
}

type Condition = string | boolean | null

const keyOf = (conditions: readonly Condition[]): string => JSON.stringify(conditions)

/** The index key of a filter. A row is under the keys of all filters that it passes, so each filter is one range of the index. */
export function filterKey({ kind, severity, acknowledged, model, user, owner }: Filter): string {
  const of = owner !== undefined ? `owner ${owner}` : user !== undefined ? `user ${user}` : null
  return keyOf([kind ?? null, severity ?? null, acknowledged ?? null, model ?? null, of])
}

/** The keys of all filters that a row passes: 48 at the most. */
export function filterKeys(row: AnomalyRow): string[] {
  const { model, user } = row.scope
  const owner = ownerOf(row)
  const values: Condition[][] = [
    [row.kind],
    [row.severity],
    [row.acknowledged !== undefined],
    model === undefined ? [] : [model],
    [...(user === undefined ? [] : [`user ${user}`]), ...(owner === undefined ? [] : [`owner ${owner}`])],
  ]
  let all: Condition[][] = [[]]
  for (const options of values) all = all.flatMap((key) => [null, ...options].map((one) => [...key, one]))
  return all.map(keyOf)
}
