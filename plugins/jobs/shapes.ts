import { z } from 'zod'
import type { JobRecord } from '#kernel'
import { jobError, jobProgress, statuses } from './row.ts'

const time = z.string().meta({ format: 'date-time' })

export const jobId = z.string().min(1).max(400).meta({ description: 'As lists show it.' })

export const kindName = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: 'The plugin’s id, a point, and the name of the kind.' })

export const jobStatus = z.enum(statuses)

export const jobItem = z.object({
  id: z.string(),
  kind: z.string(),
  lane: z.string().meta({ description: 'What it waits in line for; empty where its kind has one line.' }),
  status: jobStatus,
  attempts: z.int().meta({ description: 'How many have failed.' }),
  progress: jobProgress.nullable(),
  error: jobError.nullable().meta({
    description:
      'Of the attempt that failed last, or why it was cancelled, if that was for want of its plugin.',
  }),
  waits_for: z.string().nullable().meta({ description: 'The signal that it waits for.' }),
  created_at: time,
  due_at: time.nullable().meta({ description: 'When it is due; null while it waits for a signal alone.' }),
  started_at: time.nullable().meta({ description: 'When it ran last.' }),
  ended_at: time.nullable(),
})

export const jobDetail = jobItem.extend({
  input: z.unknown(),
  state: z.unknown().meta({ description: 'What the job has saved.' }),
  result: z.unknown(),
})

const count = z.int()

export const kindItem = z.object({
  kind: z.string(),
  paused: z.boolean(),
  defined: z.boolean().meta({ description: 'Whether a plugin runs them: without one, they wait.' }),
  waiting: count,
  running: count,
  completed: count,
  failed: count,
  cancelled: count,
})

const timeOf = (ms: number | undefined): string | null => {
  const date = new Date(ms ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

export const itemOf = (row: JobRecord): z.infer<typeof jobItem> => ({
  id: row.id,
  kind: row.kind,
  lane: row.lane,
  status: row.status,
  attempts: row.attempts,
  progress: row.progress ?? null,
  error: row.error ?? null,
  waits_for: row.waitsFor ?? null,
  created_at: timeOf(row.addedAt)!,
  due_at: timeOf(row.dueAt),
  started_at: timeOf(row.startedAt),
  ended_at: timeOf(row.endedAt),
})

export const detailOf = (row: JobRecord): z.infer<typeof jobDetail> => ({
  ...itemOf(row),
  input: row.input ?? null,
  state: row.state ?? null,
  result: row.result ?? null,
})
