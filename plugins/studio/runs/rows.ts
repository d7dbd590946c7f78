import { z } from 'zod'
import { storedPrincipal } from '#kit'

export const runStatuses = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'stopped_budget',
] as const
export type RunStatus = (typeof runStatuses)[number]

/** What runs are of. */
export const runKinds = ['experiment', 'benchmark'] as const
export type RunKind = (typeof runKinds)[number]

export const problem = z.object({ code: z.string(), message: z.string() })

/** A run as it is stored, without its plan and its answers. */
export const runRow = z.object({
  id: z.string(),
  kind: z.enum(runKinds),
  /** The id of what it is a run of. */
  of: z.string(),
  /** In whose name calls are made. */
  principal: storedPrincipal,
  ip: z.string(),
  project: z.string(),
  status: z.enum(runStatuses),
  done: z.int(),
  total: z.int(),
  /** Calls that failed. */
  errors: z.int(),
  cost_nano: z.int(),
  max_cost_nano: z.int(),
  /** Whether it ended before all calls because it was decided. */
  is_early: z.boolean().optional(),
  error: problem.optional(),
  created_at: z.string(),
  started_at: z.string().optional(),
  finished_at: z.string().optional(),
})
export type RunRow = z.infer<typeof runRow>

/** What came of one call of a run. It is not made again. */
export const answerRow = z.object({
  run: z.string(),
  n: z.int(),
  arm: z.int(),
  case: z.int(),
  repetition: z.int(),
  /** `error`: there is no answer. `unscored`: there is one, and no judge has judged it. */
  status: z.enum(['scored', 'unscored', 'error']),
  /** Of each assertion; null where it could not be judged. */
  scores: z.array(z.number().nullable()),
  score: z.number().optional(),
  passed: z.boolean().optional(),
  provider: z.string().optional(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  /** Undefined where the price is not known. */
  cost_nano: z.int().optional(),
  judge_cost_nano: z.int(),
  latency_ms: z.number(),
  trace_id: z.string().optional(),
  error: problem.optional(),
  created_at: z.string(),
})
export type AnswerRow = z.infer<typeof answerRow>

export const isOver = ({ finished_at }: Pick<RunRow, 'finished_at'>): boolean => finished_at !== undefined

/** What is thrown into the work of a run that has ended meanwhile: cancelled, or deleted. */
export class RunOver extends Error {}

/** The row of a run that goes on. Throws `RunOver` for another one. */
export function openRun(row: RunRow | undefined): RunRow {
  if (!row || isOver(row)) throw new RunOver('The run has ended')
  return row
}
