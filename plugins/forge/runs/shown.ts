import { z } from 'zod'
import { usdOf } from '#kit'
import { isOver, type RunRow, runStatuses, type StepRow, stepStatuses } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })
const problem = z.object({ code: z.string(), message: z.string() })
const sums = { tokens_in: z.int(), tokens_out: z.int(), cost_usd: z.number() }

/** A run in a list. */
export const runItem = z.object({
  id: z.string(),
  workflow_slug: z.string(),
  workflow_version: z.int(),
  user_id: z.string().nullable(),
  status: z.enum(runStatuses),
  steps_completed: z.int().meta({ description: 'Steps of the workflow that have ended, as they may.' }),
  steps_total: z.int(),
  ...sums,
  duration_ms: z.int().meta({ description: 'Time that it ran for, without waiting.' }),
  trigger: z.enum(['api', 'batch']),
  batch_id: z.string().nullable(),
  error: problem.extend({ step_id: z.string().nullable() }).nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
})

export const runDetail = runItem.extend({ input: z.unknown(), output: z.unknown() })

/** A step in the log of a run. */
export const stepItem = z.object({
  step_id: z.string().meta({
    description: 'Its path: `draft`; of steps inside others `items[3]`, `both.left` or `inner/draft`.',
  }),
  type: z.string(),
  attempt: z.int(),
  status: z.enum(stepStatuses),
  input: z.unknown().meta({ description: 'What it was made with; null where there is nothing to tell.' }),
  output: z.unknown().meta({
    description: 'Null for steps that others are a part of: their output is put together from these.',
  }),
  ...sums,
  latency_ms: z.int(),
  trace_id: z.string().nullable(),
  error: problem.nullable(),
  started_at: time,
})

export const shownRun = (row: RunRow): z.infer<typeof runItem> => {
  const { error } = row
  return {
    id: row.id,
    workflow_slug: row.workflow_slug,
    workflow_version: row.workflow_version,
    user_id: row.principal.userId ?? null,
    status: row.status,
    steps_completed: row.steps_completed,
    steps_total: row.steps_total,
    tokens_in: row.tokens_in,
    tokens_out: row.tokens_out,
    cost_usd: usdOf(row.cost_nano),
    duration_ms: row.ran_ms,
    trigger: row.batch === undefined ? 'api' : 'batch',
    batch_id: row.batch ?? null,
    error: error ? { ...error, step_id: error.step_id ?? null } : null,
    created_at: row.created_at,
    started_at: row.started_at ?? null,
    finished_at: row.finished_at ?? null,
  }
}

const brokenOff = { code: 'cancelled', message: 'The run ended before this step did.' }

/** A step with its texts. One that its run has left behind has failed. */
export const shownStep = (
  run: RunRow,
  { run: _, path, until, cost_nano, trace_id, ...row }: StepRow,
  texts: { readonly input: unknown; readonly output: unknown },
): z.infer<typeof stepItem> => {
  const isLeft = isOver(run) && (row.status === 'running' || row.status === 'pending')
  return {
    ...row,
    ...texts,
    step_id: path,
    status: isLeft ? 'failed' : row.status,
    cost_usd: usdOf(cost_nano),
    trace_id: trace_id ?? null,
    error: isLeft ? brokenOff : (row.error ?? null),
  }
}
