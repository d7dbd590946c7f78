import { z } from 'zod'
import {
  badRequest,
  type Context,
  conflict,
  forbidden,
  notFound,
  type Principal,
  Sealing,
  TraceReader,
  type TraceSummary,
} from '#kernel'
import {
  bodySeals,
  factName,
  listed,
  listOf,
  listQuery,
  scopeOf,
  shown,
  sourceUserOf,
  storedPage,
} from '#kit'
import { scale, scaleOf, scoreOf } from './rating.ts'
import type { FeedbackRow, FeedbackStore, Said } from './store.ts'
import { openedWords, sealedWords } from './words.ts'

const id = z.string().min(1).max(100)
const short = z.string().min(1).max(200)
const long = z.string().min(1).max(20_000)
const nullable = z.string().nullable()

const item = z.object({
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

const itemOf = (row: FeedbackRow): z.infer<typeof item> => ({
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

const input = z.strictObject({
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
const change = z
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

const path = '/api/trust/feedback/{id}'
const params = z.strictObject({ id })

/** Feedback on answers: users on their own calls, admins on all. */
export function addFeedbackRoutes(context: Context<unknown>, feedback: FeedbackStore): void {
  const { route, use } = context
  const seals = bodySeals(context, () => use(Sealing))

  route({
    method: 'post',
    path: '/api/trust/feedback',
    access: 'any',
    summary: 'Say what an answer was like; a second time replaces the first',
    body: input,
    status: 201,
    returns: item,
    throws: [403, 404],
    async handle({ body, principal }) {
      const { trace_id, request_id, rating, scale: wanted, user_email, end_user, ...rest } = body
      if (trace_id !== undefined && request_id !== undefined && trace_id !== request_id)
        throw badRequest('body request_id: it is another name for trace_id; send one of them.', {
          param: 'request_id',
        })
      const traceId = trace_id ?? request_id
      if (traceId === undefined) throw badRequest('body trace_id: name the call.', { param: 'trace_id' })
      demandOpinion({ rating, ...rest })
      const on = rating === undefined ? undefined : (wanted ?? scaleOf(rating))
      const trace = await ownTrace(traceId, principal!)
      const who = end_user ?? user_email
      const said = {
        trace_id: traceId,
        author: principal!.userId ?? principal!.keyId,
        user_id: principal!.userId,
        source_user_id: sourceUserOf(trace),
        ...rest,
        ...(rating !== undefined && { rating, scale: on!, score: scoreOf(rating, on!) }),
        ...(who !== undefined && { end_user: who }),
        ...calledBy(trace),
      }
      const row = await feedback.say(await sealedWords(said, seals, principal!))
      return itemOf(await openedWords(row, seals))
    },
  })

  route({
    method: 'get',
    path: '/api/trust/feedback',
    access: 'any',
    summary: 'The feedback: your own, or with an admin key all',
    query: listQuery.extend({ trace_id: id.optional(), user_id: id.optional() }),
    returns: listOf('feedback', item),
    throws: [403],
    async handle({ query: { trace_id: trace, user_id, ...window }, principal }) {
      const { type, userId } = principal!
      if (type === 'user' && user_id !== undefined && user_id !== userId)
        throw forbidden('Only an admin key may see the feedback of another user.')
      const user = type === 'user' ? userId : user_id
      const page = await storedPage(window, async (options) => {
        const { items, ...rest } = await feedback.list({ user, trace }, options)
        return { ...rest, items: await Promise.all(items.map((row) => openedWords(row, seals))) }
      })
      return listed('feedback', shown(page, itemOf), window)
    },
  })

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'What was said of an answer: users what they said themselves, admins all',
    params,
    returns: item,
    throws: [403, 404],
    async handle({ params, principal }) {
      return itemOf(await openedWords(await find(params.id, principal), seals))
    },
  })

  route({
    method: 'put',
    path,
    access: 'any',
    summary: 'Change what was said of an answer; what is absent stays, null clears',
    params,
    body: change,
    returns: item,
    throws: [403, 404, 409],
    async handle({ params, body, principal }) {
      const row = await find(params.id, principal)
      if (row.words !== undefined && (await seals.tryOpen(row.words)) === undefined)
        throw conflict('Its texts cannot be opened. Say it anew by POST /api/trust/feedback.', {
          param: 'id',
        })
      const { id: _, created_at, updated_at, ...said } = await openedWords(row, seals)
      const next = saidAfter(said, body)
      demandOpinion(next)
      const author = { userId: row.user_id, tenant: principal!.tenant }
      const changed = await feedback.change(row, await sealedWords(next, seals, author))
      if (!changed) throw unknown(params.id)
      return itemOf(await openedWords(changed, seals))
    },
  })

  route({
    method: 'delete',
    path,
    access: 'any',
    summary: 'Take back what was said of an answer',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404],
    async handle({ params, principal }) {
      const row = await find(params.id, principal)
      await feedback.delete(row)
      return { deleted: true as const, id: row.id }
    },
  })

  /** What the caller said, or with an admin key what anybody said. Throws a not found. */
  async function find(id: string, principal: Principal | undefined): Promise<FeedbackRow> {
    const user = scopeOf(principal)
    const row = await feedback.get(id)
    if (row && (user === undefined || row.user_id === user)) return row
    throw unknown(id)
  }

  /** The trace of a call that the caller may judge. Calls of other tenants are none that it can know of. */
  async function ownTrace(traceId: string, { type, userId, tenant }: Principal): Promise<TraceSummary> {
    const trace = await use(TraceReader).get(traceId)
    const isHidden = type === 'user' && trace?.user_id !== userId && trace?.tenant !== tenant
    if (!trace || isHidden) {
      throw notFound(`There is no call ${traceId}; it is known a moment after its answer.`, {
        param: 'trace_id',
      })
    }
    if (type === 'user' && trace.user_id !== userId)
      throw forbidden('This call was made by another user, who alone can say what its answer was like.', {
        param: 'trace_id',
      })
    return trace
  }
}

const unknown = (id: string) => notFound(`There is no feedback ${id}.`, { param: 'id' })

/** Throws a bad request for feedback that says nothing of the answer. */
function demandOpinion({ rating, label, comment, correction }: Partial<Said>): void {
  if ((rating ?? label ?? comment ?? correction) !== undefined) return
  throw badRequest('body rating: send a rating, a label, a comment or a correction.', { param: 'rating' })
}

/** What is said once it was changed. Throws a bad request for a rating that is not on its scale. */
function saidAfter(
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

/** What answered, as far as sums of feedback go by it. */
function calledBy({
  provider,
  model,
  facts,
}: TraceSummary): Pick<FeedbackRow, 'provider' | 'model' | 'template' | 'variant'> {
  const [template, variant] = [factName(facts.template), factName(facts.experiment)]
  return {
    model,
    ...(provider !== undefined && { provider }),
    ...(template !== undefined && { template }),
    ...(variant !== undefined && { variant }),
  }
}
