import { z } from 'zod'
import { usdOf, visibilities } from '#kit'
import { problem, type RunRow, runStatuses } from '../runs/rows.ts'
import { definition } from './input.ts'
import { results } from './results.ts'
import type { ExperimentRow } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })

/** An experiment in a list. */
export const experimentItem = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  user_id: z.string().nullable(),
  visibility: z.enum(visibilities),
  status: z.enum(['draft', ...runStatuses]),
  progress: z.object({ done: z.int(), total: z.int() }).nullable(),
  total_cost_usd: z.number(),
  error: problem.nullable(),
  created_at: time,
  updated_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
})

/** An experiment with what it asks, where that can be read, and what it has found. */
export const experimentDetail = experimentItem.extend({
  ...definition.partial().shape,
  results: results.nullable().meta({ description: 'Null before it begins.' }),
})

/** The answer to a run. */
export const experimentRun = experimentDetail.extend({ experiment_id: z.string() })

export const shownExperiment = (
  row: ExperimentRow,
  run: RunRow | undefined,
): z.infer<typeof experimentItem> => ({
  id: row.id,
  name: row.name,
  description: row.description ?? null,
  user_id: row.user_id ?? null,
  visibility: row.visibility,
  status: run?.status ?? 'draft',
  progress: run ? { done: run.done, total: run.total } : null,
  total_cost_usd: run ? usdOf(run.cost_nano) : 0,
  error: run?.error ?? null,
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: run?.started_at ?? null,
  finished_at: run?.finished_at ?? null,
})
