import { hash } from 'node:crypto'
import { badRequest, type ImpersonalDraft, type LedgerEntry, newId } from '#kernel'
import { canonicalJson } from '#kit'
import type { Found } from './columns.ts'
import { type End, idOf, noHash } from './entry.ts'

/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536
/** At most what the place of an entry adds to its facts. */
const placeCharacters = 300

/**
 * An entry before it has its place in the chain. It is text from the beginning, so that placing it is little work, and what waits is
 * little for the garbage collector to walk through.
 */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The canonical JSON of the entry, around what its place decides: the time, id, ledger and hash before it, and its number. */
  readonly parts: readonly [before: string, beforeId: string, beforeSeq: string, rest: string]
  /** What the entry is found by. */
  readonly found: Found
}

/** An entry with its place. */
export interface Placed extends End {
  /** The entry as JSON: its canonical JSON with the hash as the last field. */
  readonly line: string
  readonly found: Found
}

/** Throws a bad request for a detail that no entry can hold. */
export function factsOf(draft: ImpersonalDraft, source: LedgerEntry['source'], at = Date.now()): Facts {
  const { actor, action, event_type, resource, trace_id, verdict } = draft
  const before = `{"action":${text(action)},"actor":{"id":${text(actor.id)},"type":${text(actor.type)}},"created_at":"`
  const beforeId = `","detail":${detailText(draft.detail)},"event_type":${text(event_type)},"id":"`
  const of = resource ? `{"id":${text(resource.id)},"type":${text(resource.type)}}` : 'null'
  const beforeSeq = `","resource":${of},"seq":`
  const rest = `,"source":"${source}","trace_id":${text(trace_id)},"verdict":${text(verdict)}}`
  if (before.length + beforeId.length + beforeSeq.length + rest.length > mostCharacters - placeCharacters)
    throw badRequest(
      `body detail: is too long: an entry has at most ${mostCharacters} characters. Keep the rest elsewhere, and its SHA-256 here.`,
      { param: 'detail' },
    )
  return {
    at,
    parts: [before, beforeId, beforeSeq, rest],
    found: { event_type, actor: actor.id, resource: resource?.id },
  }
}

const nothing: End = { ledger: '', seq: 0, hash: noHash, created_at: '' }

/**
 * The entry behind another, the first one where there is none. A clock that was set back leaves the times of entries in order.
 */
export function placed(
  { at, parts, found }: Facts,
  end: End = { ...nothing, ledger: newId('ldg_') },
): Placed {
  const { ledger, hash: before } = end
  const now = new Date(at).toISOString()
  const created_at = end.created_at > now ? end.created_at : now
  const seq = end.seq + 1
  const id = idOf(ledger, seq)
  // An id, a hash and a time have no character that JSON would escape.
  const canonical = `${parts[0]}${created_at}${parts[1]}${id}","ledger":"${ledger}","prev_hash":"${before}${parts[2]}${seq}${parts[3]}`
  const own = hash('sha256', canonical)
  return { ledger, seq, hash: own, created_at, line: `${canonical.slice(0, -1)},"hash":"${own}"}`, found }
}

function detailText(detail: ImpersonalDraft['detail'] = {}): string {
  try {
    return canonicalJson(detail)
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
