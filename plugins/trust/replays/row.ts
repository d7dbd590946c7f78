import { z } from 'zod'
import { storedPrincipal } from '#kit'
import { matchMethods } from './compare.ts'

export const replayStatuses = ['queued', 'running', 'done', 'failed'] as const

const difference = z.object({
  path: z.string(),
  before: z.record(z.string(), z.unknown()),
  after: z.record(z.string(), z.unknown()),
})

/** A replay as it is stored. The texts of its answers are in its traces alone, under their rules. */
export const replayRow = z.object({
  id: z.string(),
  /** In whose name the call is made. */
  principal: storedPrincipal,
  ip: z.string(),
  /** The user whose call it repeats. */
  source_user_id: z.string().optional(),
  original_trace_id: z.string(),
  model: z.string(),
  purpose: z.string().optional(),
  status: z.enum(replayStatuses),
  match_method: z.enum(matchMethods),
  /** The trace of the call that was made. */
  replay_run_id: z.string().optional(),
  match_score: z.number().optional(),
  differences: z.array(difference).optional(),
  /** The differences, sealed. */
  sealed: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type ReplayRow = z.infer<typeof replayRow>

const nullable = z.string().nullable()

/** A replay as clients see it. */
export const replayItem = z.object({
  id: z.string(),
  original_trace_id: z.string(),
  replay_run_id: nullable.meta({ description: 'The trace of the call that was made.' }),
  model: z.string().meta({ description: 'The model that was asked for.' }),
  purpose: nullable,
  user_id: nullable,
  status: z.enum(replayStatuses),
  match_method: z.enum(matchMethods),
  match_score: z.number().nullable().meta({ description: 'From 0, nothing in common, to 1.' }),
  differences: z.array(difference).meta({
    description: 'Where the answers differ, by the shapes of their values: what they say is in their traces.',
  }),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})

export const itemOf = ({
  principal,
  ip,
  source_user_id: _,
  sealed: __,
  ...row
}: ReplayRow): z.infer<typeof replayItem> => ({
  ...row,
  replay_run_id: row.replay_run_id ?? null,
  purpose: row.purpose ?? null,
  user_id: principal.userId ?? null,
  match_score: row.match_score ?? null,
  differences: row.differences ?? [],
  error: row.error ?? null,
})
