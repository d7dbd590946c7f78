import { hash } from 'node:crypto'
import { newId } from '#kernel'
import { type End, idOf, noHash } from './end.ts'

/** An entry before it has its place in the chain. */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly at: number
  /**
   * The canonical JSON of the entry, parted where its place belongs: the time, the id with the ledger and the hash before it, and the
   * number.
   */
  readonly pieces: readonly [string, string, string, string]
}

/** An entry with its place. */
export interface Placed extends End {
  /** The entry as JSON: its canonical JSON with the hash as the last field. */
  readonly line: string
}

/** What the first entry of a new ledger follows. */
export const newLedger = (): End => ({ ledger: newId('ldg_'), seq: 0, hash: noHash, created_at: '' })

/** The entry behind another entry. A clock that was set back leaves the times of entries in order. */
export function placed({ at, pieces }: Facts, end: End): Placed {
  const [beforeTime, beforeId, beforeSeq, rest] = pieces
  const { ledger, hash: last } = end
  const now = new Date(at).toISOString()
  const created_at = end.created_at > now ? end.created_at : now
  const seq = end.seq + 1
  const id = idOf(ledger, seq)
  // An id, a hash and a time have no character that JSON would escape.
  const canonical = `${beforeTime}"${created_at}"${beforeId}"${id}","ledger":"${ledger}","prev_hash":"${last}"${beforeSeq}${seq}${rest}`
  const own = hash('sha256', canonical)
  return { ledger, seq, hash: own, created_at, line: `${canonical.slice(0, -1)},"hash":"${own}"}` }
}
