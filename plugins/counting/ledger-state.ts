import { type Limit, newId } from '#kernel'
import type { KeyedClaim } from './claims.ts'
import type { Now } from './limits/kind.ts'

/** A count of one kind, as that kind remembers it. */
export interface Count {
  readonly kind: Limit['kind']
  readonly state: unknown
}

/** A reservation that is not settled. */
export interface Hold extends Now {
  readonly owner: string
  readonly claims: readonly KeyedClaim[]
  /** When its lease is over. */
  readonly due: number
}

/** The memory of a ledger: plain data, as it outlives the instance that made it. */
export interface LedgerState {
  /** Tells what was reserved here from what was in another process. */
  readonly name: string
  readonly counts: Map<string, Count>
  readonly holds: Map<string, Hold>
  /** Counts that are not on disk as they are. */
  readonly dirty: Set<string>
  /** Counts that are there. */
  readonly stored: Set<string>
  /** Threads of those that reserve, by the names they gave themselves. */
  readonly owners: Map<string, number>
  /** Owners whose thread has ended: their late messages are refused. */
  readonly ended: Set<string>
  /** Whether what is on disk was taken in. */
  isLoaded: boolean
  lastId: number
  /** When the next lease is over, at the earliest. */
  nextDue: number
}

export const emptyLedger = (): LedgerState => ({
  name: newId('rsv'),
  counts: new Map(),
  holds: new Map(),
  dirty: new Set(),
  stored: new Set(),
  owners: new Map(),
  ended: new Set(),
  isLoaded: false,
  lastId: 0,
  nextDue: Number.POSITIVE_INFINITY,
})
