import { z } from 'zod'
import { storedPrincipal, visibilities } from '#kit'

export const batchTypes = ['chat', 'completion', 'embedding', 'workflow'] as const
export type BatchType = (typeof batchTypes)[number]

export const batchStatuses = [
  'queued',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const
export type BatchStatus = (typeof batchStatuses)[number]

export const itemStatuses = ['pending', 'succeeded', 'failed'] as const
export type ItemStatus = (typeof itemStatuses)[number]

const problem = z.object({ code: z.string(), message: z.string() })
const sums = { tokens_in: z.int(), tokens_out: z.int(), cost_nano: z.int() }

/** A batch as it is stored, without its items. */
export const batchRow = z.object({
  id: z.string(),
  type: z.enum(batchTypes),
  name: z.string().optional(),
  /** The workflow that each item is a run of, in the version of when the batch was made. */
  workflow: z.object({ id: z.string(), slug: z.string(), version: z.int(), steps: z.int() }).optional(),
  /** In whose name calls are made. */
  principal: storedPrincipal,
  /** Private without it. */
  visibility: z.enum(visibilities).optional(),
  ip: z.string(),
  project: z.string(),
  status: z.enum(batchStatuses),
  /** How many times it was begun: when it was made, and whenever it was resumed or retried. Each time is a job. */
  turn: z.int(),
  total: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  attempts: z.int(),
  ...sums,
  concurrency: z.int(),
  max_attempts: z.int(),
  max_cost_nano: z.int().optional(),
  error: problem.optional(),
  /** The key that it was asked for with, as it is stored. */
  asked_by: z.string().optional(),
  created_at: z.string(),
  started_at: z.string().optional(),
  expires_at: z.string(),
  finished_at: z.string().optional(),
})
export type BatchRow = z.infer<typeof batchRow>

/** An item of a batch as it is stored, without what it says and what came of it. */
export const itemRow = z.object({
  batch: z.string(),
  index: z.int(),
  custom_id: z.string().optional(),
  status: z.enum(itemStatuses),
  /** How many times a client had it made again after it had failed. */
  round: z.int(),
  attempts: z.int(),
  ...sums,
  trace_id: z.string().optional(),
  run: z.string().optional(),
  error: problem.optional(),
})
export type ItemRow = z.infer<typeof itemRow>

export const isOver = ({ finished_at }: Pick<BatchRow, 'finished_at'>): boolean => finished_at !== undefined

/** The id of the job of a turn. */
export const jobOf = (batch: string, turn: number): string => `${batch}.${turn}`
