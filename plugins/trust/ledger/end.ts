import { hash } from 'node:crypto'
import type { LedgerEntry } from '#kernel'
import { canonicalJson } from '#kit'

/** The hash before the first entry. */
export const noHash = '0'.repeat(64)

/** The hash that an entry must have. */
export const hashOf = ({ hash: _, ...fields }: LedgerEntry): string => hash('sha256', canonicalJson(fields))

/** The end of a chain: what the next entry needs of the last one. */
export type End = Pick<LedgerEntry, 'ledger' | 'seq' | 'hash' | 'created_at'>

/** The id of an entry says where it is, so that no index is needed to find it. */
export const idOf = (ledger: string, seq: number): string => `le_${ledger.slice('ldg_'.length)}_${seq}`

/** The place that an id names; undefined for what is no id of an entry. */
export function seqOf(id: string): number | undefined {
  const [, seq] = /^le_[0-9A-Z]{26}_([1-9][0-9]{0,15})$/.exec(id) ?? []
  return seq === undefined ? undefined : Number(seq)
}
