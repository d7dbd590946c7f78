import { z } from 'zod'
import { usdOf, visibilities } from '#kit'
import { batchPath } from '../addressed.ts'
import { type BatchRow, batchStatuses, batchTypes, type ItemRow, itemStatuses } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })
const nullable = z.string().nullable()
const problem = z.object({ code: z.string(), message: z.string() }).nullable()
const sums = { tokens_in: z.int(), tokens_out: z.int(), cost_usd: z.number() }

export const counts = z.object({
  total: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  pending: z.int(),
})

export const batchItem = z.object({
  id: z.string(),
  type: z.enum(batchTypes),
  name: nullable,
  user_id: nullable,
  visibility: z.enum(visibilities),
  workflow_slug: nullable,
  workflow_version: z.int().nullable(),
  status: z.enum(batchStatuses),
  counts,
  progress: z.number().meta({ description: 'The share of its items that have ended, from 0 to 1.' }),
  attempts: z.int().meta({ description: 'Of all its items together.' }),
  max_attempts: z.int(),
  concurrency: z.int(),
  max_cost_usd: z.number().nullable(),
  ...sums,
  error: problem.meta({ description: 'Why it has paused by itself, or failed.' }),
  results_url: z.string(),
  errors_url: z.string(),
  created_at: time,
  started_at: time.nullable(),
  expires_at: time,
  finished_at: time.nullable(),
})

/** A line of the file of results. */
export const resultLine = z.object({
  index: z.int().meta({ description: 'Its place among the inputs, from 0.' }),
  custom_id: nullable,
  status: z.enum(itemStatuses),
  response: z.unknown().meta({
    description: 'The body of the answer, or the output of the run; null where there is none.',
  }),
  error: problem,
  trace_id: nullable,
  run_id: nullable,
})

/** An item in a listing. */
export const itemDetail = resultLine.extend({ input: z.unknown(), attempts: z.int(), ...sums })

export const countsOf = ({ total, succeeded, failed }: BatchRow): z.infer<typeof counts> => ({
  total,
  succeeded,
  failed,
  pending: total - succeeded - failed,
})

export const shownBatch = (row: BatchRow): z.infer<typeof batchItem> => ({
  id: row.id,
  type: row.type,
  name: row.name ?? null,
  user_id: row.principal.userId ?? null,
  visibility: row.visibility ?? 'private',
  workflow_slug: row.workflow?.slug ?? null,
  workflow_version: row.workflow?.version ?? null,
  status: row.status,
  counts: countsOf(row),
  progress: (row.succeeded + row.failed) / row.total,
  attempts: row.attempts,
  max_attempts: row.max_attempts,
  concurrency: row.concurrency,
  max_cost_usd: row.max_cost_nano === undefined ? null : usdOf(row.max_cost_nano),
  tokens_in: row.tokens_in,
  tokens_out: row.tokens_out,
  cost_usd: usdOf(row.cost_nano),
  error: row.error ?? null,
  results_url: `${batchPath}/${row.id}/results`,
  errors_url: `${batchPath}/${row.id}/results?status=failed`,
  created_at: row.created_at,
  started_at: row.started_at ?? null,
  expires_at: row.expires_at,
  finished_at: row.finished_at ?? null,
})

export const shownResult = (item: ItemRow, response: unknown): z.infer<typeof resultLine> => ({
  index: item.index,
  custom_id: item.custom_id ?? null,
  status: item.status,
  response,
  error: item.error ?? null,
  trace_id: item.trace_id ?? null,
  run_id: item.run ?? null,
})
