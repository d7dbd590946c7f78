import { hash } from 'node:crypto'
import { badRequest, type ImpersonalDraft, type LedgerEntry, newId } from '#kernel'
import { canonicalJson } from '#kit'
import { digestOf } from './digest.ts'
import { type End, idOf, noHash } from './end.ts'

/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536
/** At most what the place of an entry adds to its facts. */
const placeCharacters = 300

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

/** Makes the hashes of a draft too. Throws a bad request for what no entry can hold. */
export function factsOf(draft: ImpersonalDraft, source: LedgerEntry['source'], at = Date.now()): Facts {
  const { actor, action, event_type, resource, trace_id, verdict } = draft
  const of = resource ? `{"id":${text(resource.id)},"type":${text(resource.type)}}` : 'null'
  const pieces = [
    `{"action":${text(action)},"actor":{"id":${text(actor.id)},"type":${text(actor.type)}},"created_at":"`,
    `","detail":${detailOf(draft)},"event_type":${text(event_type)},"id":"`,
    `","resource":${of},"seq":`,
    `,"source":"${source}","trace_id":${text(trace_id)},"verdict":${text(verdict)}}`,
  ] as const
  if (pieces.reduce((sum, { length }) => sum + length, 0) > mostCharacters - placeCharacters)
    throw badRequest(
      `body detail: is too long: an entry has at most ${mostCharacters} characters. Keep the rest elsewhere, and its SHA-256 here.`,
      { param: 'detail' },
    )
  return { at, pieces }
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
  const canonical = `${beforeTime}${created_at}${beforeId}${id}","ledger":"${ledger}","prev_hash":"${last}${beforeSeq}${seq}${rest}`
  const own = hash('sha256', canonical)
  return { ledger, seq, hash: own, created_at, line: `${canonical.slice(0, -1)},"hash":"${own}"}` }
}

/** The canonical JSON of the detail with its hashes. */
function detailOf({ detail = {}, digests = {} }: ImpersonalDraft): string {
  const hashes = Object.entries(digests).map(([name, json]) => [name, digestOf(json)])
  try {
    return canonicalJson({ ...detail, ...Object.fromEntries(hashes) })
  } catch (error) {
    throw badRequest(`body detail: must be JSON with finite numbers and whole characters. ${said(error)}`, {
      param: 'detail',
    })
  }
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A name or an id as JSON. */
function text(value: string | undefined): string {
  if (value === undefined) return 'null'
  if (value.isWellFormed()) return JSON.stringify(value)
  throw badRequest(`body: ${JSON.stringify(value)} has half a character.`)
}
