import { z } from 'zod'
import { storedPrincipal } from '#kit'

export const runStatuses = [
  'queued',
  'running',
  'waiting_human',
  'completed',
  'failed',
  'cancelled',
  'budget_exceeded',
] as const
export type RunStatus = (typeof runStatuses)[number]

export const stepStatuses = ['pending', 'running', 'completed', 'failed', 'skipped'] as const

const problem = z.object({ code: z.string(), message: z.string() })

const sums = { tokens_in: z.int(), tokens_out: z.int(), cost_nano: z.int() }

/** A run as it is stored, without its input and output. */
export const runRow = z.object({
  id: z.string(),
  workflow: z.string(),
  workflow_slug: z.string(),
  workflow_version: z.int(),
  /** In whose name calls are made. */
  principal: storedPrincipal,
  ip: z.string(),
  project: z.string(),
  status: z.enum(runStatuses),
  /** How many times people have decided, or let the time pass. */
  turn: z.int(),
  steps_completed: z.int(),
  steps_total: z.int(),
  ...sums,
  /** Milliseconds that it ran for, waiting left aside. */
  ran_ms: z.int(),
  /** Bytes that its steps have put out. */
  bytes: z.int(),
  error: problem.extend({ step_id: z.string().optional() }).optional(),
  /** The key that it was asked for with, as it is stored. */
  asked_by: z.string().optional(),
  /** The batch that it is an item of. */
  batch: z.string().optional(),
  created_at: z.string(),
  started_at: z.string().optional(),
  finished_at: z.string().optional(),
})
export type RunRow = z.infer<typeof runRow>

/** A step of a run as it is stored. One that has ended is not made again. */
export const stepRow = z.object({
  run: z.string(),
  /** `draft`; with other steps inside, `items[3]`, `both.left` or `inner/draft`. */
  path: z.string(),
  type: z.string(),
  attempt: z.int(),
  status: z.enum(stepStatuses),
  /** JSON of the input and the output, sealed where that is asked for. */
  input: z.string().optional(),
  output: z.string().optional(),
  ...sums,
  latency_ms: z.int(),
  trace_id: z.string().optional(),
  error: problem.optional(),
  /** Until when a person can decide, in milliseconds since the epoch. */
  until: z.int().optional(),
  started_at: z.string(),
})
export type StepRow = z.infer<typeof stepRow>

export const noSums = { tokens_in: 0, tokens_out: 0, cost_nano: 0 }

export const isOver = ({ finished_at }: Pick<RunRow, 'finished_at'>): boolean => finished_at !== undefined

/** Whether a run does nothing by itself any more. */
export const isSettled = (row: RunRow): boolean => isOver(row) || row.status === 'waiting_human'

export const stepKey = (run: string, path: string): string => `${run} ${path}`

/** Whether a step stands by itself in its workflow, and in no other step. */
export const isTop = (path: string): boolean => !/[[/.]/.test(path)

/** What is thrown into the work of a run that has ended meanwhile: cancelled, or deleted. */
export class RunOver extends Error {}

/** The row of a run that goes on. Throws `RunOver` for another one. */
export function openRun(row: RunRow | undefined): RunRow {
  if (!row || isOver(row)) throw new RunOver('The run has ended')
  return row
}
