import { z } from 'zod'
import type { LedgerActor, LedgerEntry, LedgerResource } from '#kernel'

/** Actors and resources by the names of their types and their ids, however long these are. */
const actorSchema = z.object({
  type: z.enum(['user', 'admin', 'key', 'system', 'module', 'anonymous']),
  id: z.string(),
}) satisfies z.ZodType<LedgerActor>
const resourceSchema = z.object({ type: z.string(), id: z.string() }) satisfies z.ZodType<LedgerResource>

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
