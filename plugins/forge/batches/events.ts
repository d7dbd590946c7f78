import { z } from 'zod'
import { defineEvent } from '#kernel'
import { usdOf } from '#kit'
import { type BatchRow, batchStatuses, batchTypes } from './rows.ts'
import { counts, countsOf } from './shown.ts'

const about = z.object({
  id: z.string(),
  type: z.enum(batchTypes),
  status: z.enum(batchStatuses),
  counts,
  cost_usd: z.number(),
  user_id: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})

export const BatchEnded = defineEvent('batch.ended', about, {
  description: 'A batch has ended: all its items have, it was cancelled, its time is over, or it broke off.',
})

export const BatchPaused = defineEvent('batch.paused', about, {
  description: 'A batch has paused by itself, as it has cost what it may, or the key of its caller is gone.',
})

/** What is told of a batch. */
export const toldOf = (row: BatchRow): z.infer<typeof about> => ({
  id: row.id,
  type: row.type,
  status: row.status,
  counts: countsOf(row),
  cost_usd: usdOf(row.cost_nano),
  user_id: row.principal.userId ?? null,
  error: row.error ?? null,
})
