import { z } from 'zod'
import { visibilities } from '#kit'
import { problem } from '../runs/rows.ts'
import { drift, match } from './match.ts'

export const snapshotStatuses = ['passing', 'failing', 'unverified'] as const

/** What came of asking again. */
export const historyItem = z.object({
  run_at: z.string(),
  model: z.string(),
  /** `error`: there was no answer, which says nothing of the model. */
  status: z.enum(['passing', 'failing', 'error']),
  score: z.number().nullable(),
  drift: drift.nullable(),
  trace_id: z.string(),
  cost_usd: z.number().nullable(),
  latency_ms: z.number(),
  error: problem.nullable(),
})
export type HistoryItem = z.infer<typeof historyItem>

/** A snapshot as it is stored. */
export const snapshotRow = z.object({
  id: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  /** Whose past call it was made of. */
  source_user_id: z.string().optional(),
  /** Modules that had added to the request of that call. */
  added: z.array(z.string()).optional(),
  visibility: z.enum(visibilities),
  name: z.string(),
  description: z.string().optional(),
  model: z.string(),
  template: z.object({ slug: z.string(), version: z.int() }).optional(),
  match,
  status: z.enum(snapshotStatuses),
  /** JSON of the request, and of the pinned answer and the last one; sealed where that is asked for. */
  request: z.string(),
  baseline: z.string(),
  last: z.string().optional(),
  /** Newest first. */
  history: z.array(historyItem),
  created_at: z.string(),
  updated_at: z.string(),
})
export type SnapshotRow = z.infer<typeof snapshotRow>
