import type { Subject } from '../kernel/contract/personal-data.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Transaction } from '../storage/index.ts'

/** The party that did something. Ids are the gateway's own: never an address or a name of a person. */
export interface LedgerActor {
  readonly type: 'user' | 'admin' | 'key' | 'system' | 'module' | 'anonymous'
  readonly id: string
}

/** The thing that something was done to. */
export interface LedgerResource {
  readonly type: string
  readonly id: string
}

/** What happened, for an entry; not to be changed after it was handed over. All of it is JSON. */
export interface LedgerDraft {
  /** Dotted: `policy.changed`, `erasure.done`. */
  readonly event_type: string
  readonly actor: LedgerActor
  /** A verb: `create`, `erase`, `block`. */
  readonly action: string
  readonly resource?: LedgerResource | undefined
  /**
   * Facts that tell nothing of a person beyond ids, at most 60,000 characters as JSON. Use whole numbers: others can verify these in any
   * language. `record` repairs what has no canonical form (RFC 8785), as it does for `digests`; `append` refuses it.
   */
  readonly detail?: Readonly<Record<string, unknown>>
  /**
   * JSON of which the detail has the SHA-256 under these names: that of its canonical form (RFC 8785), in hexadecimal. Half
   * characters count as U+FFFD and numbers that are not finite as null, as such JSON has no canonical form. Hashes of an entry
   * that is recorded are made off the call's path, those of many entries or long texts in another thread.
   */
  readonly digests?: Readonly<Record<string, string>>
  /** Facts about a person. The entry has commitments in their place, which nothing can be learned from after an erasure. */
  readonly personal?: { readonly of: Subject; readonly fields: Readonly<Record<string, string>> }
  readonly trace_id?: string | undefined
  readonly verdict?: string | undefined
}

/** A draft without facts about a person. */
export type ImpersonalDraft = Omit<LedgerDraft, 'personal'>

/** An entry. `hash` is the SHA-256 of the canonical JSON (RFC 8785) of all other fields, in hexadecimal. */
export interface LedgerEntry {
  readonly id: string
  /** The ledger that it is of. */
  readonly ledger: string
  /** From 1, without gaps. */
  readonly seq: number
  /** Whether the gateway wrote it by itself, or an admin by the API. */
  readonly source: 'gateway' | 'api'
  readonly event_type: string
  readonly actor: LedgerActor
  readonly resource: LedgerResource | null
  readonly action: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly trace_id: string | null
  readonly verdict: string | null
  /** Of the entry before it; 64 zeros in the first. */
  readonly prev_hash: string
  /** ISO 8601; never before that of the entry before it. */
  readonly created_at: string
  readonly hash: string
}

/** Which entries; all conditions must hold. */
export interface LedgerQuery {
  /** Both included. */
  readonly fromSeq?: number | undefined
  readonly toSeq?: number | undefined
  /** Milliseconds since the epoch; `to` is exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly eventType?: string | undefined
  /** Ids. */
  readonly actor?: string | undefined
  readonly resource?: string | undefined
}

/** The end of the ledger: 0 and 64 zeros while it is empty. */
export interface LedgerHead {
  readonly seq: number
  readonly hash: string
}

/** The ledger: entries in one chain, each with the hash of the one before. None is ever changed or deleted. */
export interface Ledger {
  /** Resolves when the entry is on disk. Rejects with a bad request for a draft that cannot be an entry. */
  append(draft: LedgerDraft): Promise<LedgerEntry>
  /**
   * Prepares an entry that is appended with other changes: call the result in a transaction of the store, and the entry is there
   * if and only if the transaction is.
   */
  prepare(draft: LedgerDraft): Promise<(transaction: Transaction) => LedgerEntry>
  /**
   * Has an entry appended soon and returns at once, for what happens with calls. The entry is hashed off the call's path; a
   * crash loses at most the last tenth of a second. False for a draft that cannot be an entry, and when 50,000 entries or texts
   * of 64 MB wait already; the ledger counts both. A function is called at once.
   */
  record(draft: LedgerDraft | (() => ImpersonalDraft)): boolean
  /** In their order. What was recorded before is read as well. */
  scan(query: LedgerQuery): AsyncIterable<LedgerEntry>
  head(): Promise<LedgerHead>
}

export const Ledger = guardedToken<Ledger>('ledger')
