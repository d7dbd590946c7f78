import { z } from 'zod'
import { usdOf, visibilities } from '#kit'
import { problem, type RunRow, runStatuses } from '../runs/rows.ts'
import { definition } from './input.ts'
import { report } from './report.ts'
import type { BenchmarkRow } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })

/** A benchmark in a list. */
export const benchmarkItem = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  user_id: z.string().nullable(),
  visibility: z.enum(visibilities),
  created_at: time,
  updated_at: time,
})

export const benchmarkDetail = benchmarkItem.extend(definition.shape)

/** A run of a benchmark in a list. */
export const runItem = z.object({
  run_id: z.string(),
  benchmark_id: z.string(),
  user_id: z.string().nullable(),
  status: z.enum(runStatuses),
  progress: z.object({ done: z.int(), total: z.int() }),
  errors: z.int(),
  total_cost_usd: z.number(),
  error: problem.nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
})

/** A run with its results; without them where they cannot be read any more. */
export const runDetail = runItem.extend(report.partial().shape)

export const shownBenchmark = (row: BenchmarkRow): z.infer<typeof benchmarkItem> => ({
  id: row.id,
  name: row.name,
  description: row.description ?? null,
  user_id: row.user_id ?? null,
  visibility: row.visibility,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

export const shownRun = (row: RunRow): z.infer<typeof runItem> => ({
  run_id: row.id,
  benchmark_id: row.of,
  user_id: row.principal.userId ?? null,
  status: row.status,
  progress: { done: row.done, total: row.total },
  errors: row.errors,
  total_cost_usd: usdOf(row.cost_nano),
  error: row.error ?? null,
  created_at: row.created_at,
  started_at: row.started_at ?? null,
  finished_at: row.finished_at ?? null,
})
