import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LedgerActor, LedgerEntry, LedgerResource } from '#kernel'
import { canonicalJson } from '#kit'

/** The hash before the first entry. */
export const noHash = '0'.repeat(64)
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
