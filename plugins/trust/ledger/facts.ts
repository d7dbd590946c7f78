import { hash, randomBytes } from 'node:crypto'
import { badRequest, type ImpersonalDraft, type LedgerEntry, newId } from '#kernel'
import { canonicalJson } from '#kit'
import type { Found } from './columns.ts'
import { digestOf } from './digest.ts'
import { type End, idOf, noHash } from './entry.ts'
import { betweenFacts } from './linking/methods.ts'

/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536
/** At most what the place of an entry adds to its facts. */
const placeCharacters = 300
/** Between the pieces of facts. No JSON has it as it is. */
const between = '\u0000'
/**
 * Stand for a hash that is not made yet: a character that few texts have, and which is found quickly, and for the others a text that
 * none has, as nobody can know it.
 */
const holes = ['\u007f', randomBytes(32).toString('hex')]
const hashCharacters = 64

/**
 * An entry before it has its place in the chain. It is one text, so that it crosses to another thread quickly, and what waits is little
 * for the garbage collector to walk through: the milliseconds since the epoch, the canonical JSON of the entry in pieces, and the JSON
 * whose hashes are in the detail. Between the pieces belong the time, those hashes, the id with the ledger and the hash before it, and
 * the number.
 */
export type Facts = string

/** What an entry is made of, and found by. */
export interface Made {
  readonly facts: Facts
  readonly found: Found
}

/** An entry with its place. */
export interface Placed extends End {
  /** The entry as JSON: its canonical JSON with the hash as the last field. */
  readonly line: string
}

/** Throws a bad request for what no entry can hold. */
export function factsOf(draft: ImpersonalDraft, source: LedgerEntry['source'], at = Date.now()): Made {
  const { actor, action, event_type, resource, trace_id, verdict, digests } = draft
  const digestNames = Object.keys(digests ?? {}).sort()
  const detail = digestNames.length > 0 ? textWithHoles(draft, digestNames) : detailText(draft.detail)
  const of = resource ? `{"id":${text(resource.id)},"type":${text(resource.type)}}` : 'null'
  const json = `{"action":${text(action)},"actor":{"id":${text(actor.id)},"type":${text(actor.type)}},"created_at":"${between}","detail":${detail},"event_type":${text(event_type)},"id":"${between}","resource":${of},"seq":${between},"source":"${source}","trace_id":${text(trace_id)},"verdict":${text(verdict)}}`
  if (json.length + digestNames.length * hashCharacters > mostCharacters - placeCharacters)
    throw badRequest(
      `body detail: is too long: an entry has at most ${mostCharacters} characters. Keep the rest elsewhere, and its SHA-256 here.`,
      { param: 'detail' },
    )
  const found = { event_type, actor: actor.id, resource: resource?.id }
  return { facts: `${at}${between}${json}${undigested(digests, digestNames)}`, found }
}

/** The canonical JSON of the detail, parted where hashes belong. */
function textWithHoles({ detail }: ImpersonalDraft, names: readonly string[]): string {
  for (const hole of holes) {
    const pieces = detailText(withHoles(detail, names, hole)).split(hole)
    if (pieces.length === names.length + 1) return pieces.join(between)
  }
  throw new TypeError('A text has what stands for a hash.')
}

function withHoles(detail: ImpersonalDraft['detail'], names: readonly string[], hole: string) {
  const filled: Record<string, unknown> = { ...detail }
  for (const name of names) {
    // Set in the usual way, this one name would be no field.
    if (name === '__proto__')
      Object.defineProperty(filled, name, {
        value: hole,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else filled[name] = hole
  }
  return filled
}

/** In the order of their names, as the fields of canonical JSON are. */
function undigested(digests: ImpersonalDraft['digests'], names: readonly string[]): string {
  let all = ''
  for (const name of names) {
    const json = digests![name]!
    if (json.includes(between) || json.includes(betweenFacts))
      throw badRequest(`digests.${name}: must be JSON, which has no control characters.`, {
        param: 'digests',
      })
    all += between + json
  }
  return all
}

/** The same facts with their hashes made. Throws for what is no JSON. */
export function digested(facts: Facts): Facts {
  const texts = facts.split(between)
  const digests = texts.length / 2 - 2.5
  if (digests === 0) return facts
  const [at, before, first] = texts as [string, string, string]
  const beforeId = texts
    .slice(-digests)
    .reduce((whole, json, index) => whole + digestOf(json) + texts[3 + index], first)
  return [at, before, beforeId, ...texts.slice(3 + digests, 5 + digests)].join(between)
}

/** What the first entry of a new ledger follows. */
export const newLedger = (): End => ({ ledger: newId('ldg_'), seq: 0, hash: noHash, created_at: '' })

/** The entry of digested facts behind another entry. A clock that was set back leaves the times of entries in order. */
export function placed(facts: Facts, end: End): Placed {
  const [at, before, beforeId, beforeSeq, rest] = facts.split(between)
  const { ledger, hash: last } = end
  const now = new Date(Number(at)).toISOString()
  const created_at = end.created_at > now ? end.created_at : now
  const seq = end.seq + 1
  const id = idOf(ledger, seq)
  // An id, a hash and a time have no character that JSON would escape.
  const canonical = `${before}${created_at}${beforeId}${id}","ledger":"${ledger}","prev_hash":"${last}${beforeSeq}${seq}${rest}`
  const own = hash('sha256', canonical)
  return { ledger, seq, hash: own, created_at, line: `${canonical.slice(0, -1)},"hash":"${own}"}` }
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
