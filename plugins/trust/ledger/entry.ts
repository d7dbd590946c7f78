import { hash } from 'node:crypto'
import { z } from 'zod'
import { badRequest, type LedgerActor, type LedgerEntry, type LedgerResource, newId } from '#kernel'
import { canonicalJson } from '#kit'

/** The hash before the first entry. */
export const noHash = '0'.repeat(64)
/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536

const id = z.string().min(1).max(200)

/** Actors and resources by the names of their types and their ids. */
export const actorSchema = z.object({
  type: z.enum(['user', 'admin', 'key', 'system', 'module', 'anonymous']),
  id,
}) satisfies z.ZodType<LedgerActor>
export const resourceSchema = z.object({ type: id, id }) satisfies z.ZodType<LedgerResource>

/** An entry as it is stored, shown and exported. */
export const entrySchema = z.object({
  id: z.string(),
  ledger: z.string(),
  seq: z.int(),
  source: z.enum(['gateway', 'api']),
  event_type: z.string(),
  actor: actorSchema,
  resource: resourceSchema.nullable(),
  action: z.string(),
  detail: z.record(z.string(), z.unknown()),
  trace_id: z.string().nullable(),
  verdict: z.string().nullable(),
  prev_hash: z.string(),
  created_at: z.string().meta({ format: 'date-time' }),
  hash: z
    .string()
    .meta({ description: 'SHA-256 of the canonical JSON (RFC 8785) of all other fields, in hexadecimal.' }),
}) satisfies z.ZodType<LedgerEntry>

/** An entry before it has its place in the chain. */
export type Facts = Omit<LedgerEntry, 'id' | 'ledger' | 'seq' | 'prev_hash' | 'hash' | 'created_at'> & {
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The hash that an entry must have. */
export const hashOf = ({ hash: _, ...fields }: LedgerEntry): string => hash('sha256', canonicalJson(fields))

/** The end of a chain: what the next entry needs of the last one. */
export type End = Pick<LedgerEntry, 'ledger' | 'seq' | 'hash' | 'created_at'>

/**
 * The entry behind another, the first one where there is none. A clock that was set back leaves the times of entries in order.
 * Throws a bad request for a detail that no entry can hold.
 */
export function chained(facts: Facts, end: End | undefined): LedgerEntry {
  const { ledger, seq, hash: prev_hash, created_at } = end ?? { ...nothing, ledger: newId('ldg_') }
  const now = new Date(facts.at).toISOString()
  // In the order of canonical JSON, which is then written fastest.
  const fields = {
    action: facts.action,
    actor: facts.actor,
    created_at: created_at > now ? created_at : now,
    detail: facts.detail,
    event_type: facts.event_type,
    id: idOf(ledger, seq + 1),
    ledger,
    prev_hash,
    resource: facts.resource,
    seq: seq + 1,
    source: facts.source,
    trace_id: facts.trace_id,
    verdict: facts.verdict,
  }
  return { ...fields, hash: hash('sha256', textOf(fields)) }
}

const nothing = { seq: 0, hash: noHash, created_at: '' }

function textOf(fields: Omit<LedgerEntry, 'hash'>): string {
  let text: string
  try {
    text = canonicalJson(fields)
  } catch (error) {
    throw badRequest(`body detail: must be JSON with finite numbers and whole characters. ${said(error)}`, {
      param: 'detail',
    })
  }
  if (text.length <= mostCharacters) return text
  throw badRequest(
    `body detail: is too long: an entry has at most ${mostCharacters} characters. Keep the rest elsewhere, and its SHA-256 here.`,
    { param: 'detail' },
  )
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The id of an entry says where it is, so that no index is needed to find it. */
export const idOf = (ledger: string, seq: number): string => `le_${ledger.slice('ldg_'.length)}_${seq}`

/** The place that an id names; undefined for what is no id of an entry. */
export function seqOf(id: string): number | undefined {
  const [, seq] = /^le_[0-9A-Z]{26}_([1-9][0-9]{0,15})$/.exec(id) ?? []
  return seq === undefined ? undefined : Number(seq)
}
