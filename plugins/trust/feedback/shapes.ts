import { z } from 'zod'
import { scale, scaleOf, scoreOf } from './rating.ts'
import type { FeedbackRow, Said } from './store.ts'

export const id = z.string().min(1).max(100)
const short = z.string().min(1).max(200)
const long = z.string().min(1).max(20_000)
const nullable = z.string().nullable()

/** Feedback as the API shows it. */
export const item = z.object({
  id: z.string(),
  trace_id: z.string(),
  user_id: nullable,
  rating: z.number().nullable(),
  scale: scale.nullable(),
  score: z.number().nullable().meta({ description: 'The rating from 0, the worst, to 1, on every scale.' }),
  label: nullable,
  comment: nullable,
  tags: z.array(z.string()),
  correction: nullable,
  end_user: nullable,
  provider: nullable,
  model: z.string(),
  template_version_id: nullable,
  experiment_id: nullable.meta({ description: 'The experiment and the variant that the call was in.' }),
  source: z.literal('api'),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})

export const itemOf = (row: FeedbackRow): z.infer<typeof item> => ({
  ...row,
  user_id: row.user_id ?? null,
  rating: row.rating ?? null,
  scale: row.scale ?? null,
  score: row.score ?? null,
  label: row.label ?? null,
  comment: row.comment ?? null,
  correction: row.correction ?? null,
  end_user: row.end_user ?? null,
  provider: row.provider ?? null,
  template_version_id: row.template ?? null,
  experiment_id: row.variant ?? null,
  source: 'api',
})

/** Feedback as it is given. */
export const input = z.strictObject({
  trace_id: id.optional().meta({ description: 'From the header X-Trace-Id of the answer.' }),
  request_id: id.optional().meta({ description: 'Another name for trace_id.' }),
  rating: z.number().optional(),
  scale: scale.optional(),
  label: short.optional(),
  comment: long.optional(),
  tags: z.array(short).max(20).default([]),
  correction: long.optional().meta({ description: 'A better answer.' }),
  user_email: z.email().max(320).optional(),
  end_user: short.optional().meta({ description: 'Who said it, in words of the client.' }),
})

/** A change of what was said: absent fields stay as they are, null clears one. */
export const change = z
  .strictObject({
    rating: z.number().nullable(),
    scale: scale.meta({
      description: 'Of the rating; without it the rating is on the scale of the one before.',
    }),
    label: short.nullable(),
    comment: long.nullable(),
    tags: input.shape.tags.unwrap().nullable(),
    correction: long.nullable(),
    user_email: z.email().max(320).nullable(),
    end_user: short.nullable(),
  })
  .partial()

/** What is said once it was changed. Throws a bad request for a rating that is not on its scale. */
export function saidAfter(
  said: Said,
  { rating, scale: wanted, user_email, tags, ...texts }: z.infer<typeof change>,
): Said {
  const { rating: ratedAs, scale: ratedOn, score: _, ...rest } = said
  const rated = rating === undefined ? ratedAs : (rating ?? undefined)
  const on = rated === undefined ? undefined : (wanted ?? ratedOn ?? scaleOf(rated))
  const changes = { ...(user_email !== undefined && { end_user: user_email }), ...texts }
  const cleared = Object.fromEntries(
    Object.entries(changes).map(([field, text]) => [field, text ?? undefined] as const),
  )
  return {
    ...rest,
    ...cleared,
    ...(tags !== undefined && { tags: tags ?? [] }),
    ...(rated !== undefined && { rating: rated, scale: on!, score: scoreOf(rated, on!) }),
  }
}
