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
import { scaleOf, scoreOf } from './rating.ts'
import { change, id, input, item, itemOf, saidAfter } from './shapes.ts'
import type { FeedbackRow, FeedbackStore, Said } from './store.ts'
import { openedWords, sealedWords } from './words.ts'

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
        tenant: principal!.tenant,
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
      // Sealing takes time, in which it may be changed: then this change is made to what it says by then.
      for (;;) {
        const row = await find(params.id, principal)
        if (row.words !== undefined && (await seals.tryOpen(row.words)) === undefined)
          throw conflict('Its texts cannot be opened. Say it anew by POST /api/trust/feedback.', {
            param: 'id',
          })
        const { id: _, created_at, updated_at, ...said } = await openedWords(row, seals)
        const next = saidAfter(said, body)
        demandOpinion(next)
        const author = { userId: row.user_id, tenant: row.tenant ?? principal!.tenant }
        const changed = await feedback.change(row, await sealedWords(next, seals, author))
        if (changed) return itemOf(await openedWords(changed, seals))
      }
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
