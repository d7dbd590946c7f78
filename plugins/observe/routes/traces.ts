import { z } from 'zod'
import { type Context, Feedback, notFound, Pricing, type Principal } from '#kernel'
import { callStatuses, forbidOthers, listed, listOf, listQuery, shown, storedPage, timeFilter } from '#kit'
import type { Arrangements } from '../arrangements.ts'
import { bodiesText } from '../body.ts'
import { explained } from '../explain/explain.ts'
import { traceExplanation } from '../explain/shapes.ts'
import { beganAt, manualRow, manualTrace } from '../manual.ts'
import type { BodyRules } from '../recorder.ts'
import type { TraceRow } from '../row.ts'
import { traceDetail, traceItem } from '../shapes.ts'
import { costOf } from '../trace.ts'
import type { Traces } from '../traces.ts'
import { detailOf, itemOf } from '../view.ts'

/** How long a search through bodies may take. */
const searchMs = 2000

const text = z.string().min(1).max(256).optional()
const minimum = z.coerce.number().min(0).optional()

const query = listQuery.extend({
  from: timeFilter.optional(),
  to: timeFilter.optional().meta({ description: 'Traces before this; ISO 8601.' }),
  model: text.meta({ description: 'The requested model, or the one that was used.' }),
  provider: text,
  status: z.enum(callStatuses).optional(),
  user_id: text,
  key_id: text,
  project: text,
  tag: z
    .string()
    .regex(/^[^=]+=/, 'must be key=value')
    .optional(),
  source: text,
  session_id: text,
  min_cost: minimum.meta({ description: 'USD.' }),
  min_latency: minimum.meta({ description: 'Milliseconds.' }),
  q: text.meta({ description: 'A text in the stored bodies; case does not matter.' }),
})

const listing = listOf('traces', traceItem).extend({
  search: z.object({ searched: z.int(), complete: z.boolean() }).optional().meta({
    description: 'With q: number of traces that were read, newest first, and whether these were all.',
  }),
})

interface Parts {
  readonly traces: Traces
  readonly arrangements: Arrangements
  readonly rules: BodyRules
  /** Days that traces are kept. */
  readonly keptDays: (project: string) => number
  /** Called with a trace that was added by hand. */
  readonly added: (row: TraceRow) => void
}

/** Lists, adds and shows traces. */
export function traceRoutes(context: Context<unknown>, parts: Parts): void {
  const { traces, arrangements, rules, keptDays, added } = parts
  const detail = async (row: TraceRow) => ({
    ...detailOf(row, await traces.bodies(row.id), await arrangementOf(arrangements, row)),
    feedback: (await context.find(Feedback)?.of(row.id)) ?? null,
  })

  context.route({
    method: 'get',
    path: '/api/observe/traces',
    access: 'any',
    summary: 'Traces, newest first',
    query,
    returns: listing,
    throws: [403],
    async handle({ query: { q, limit, offset, cursor, ...given }, principal }) {
      const filter = { ...given, user_id: forbidOthers(principal, given.user_id) }
      const query = { limit, offset, cursor }
      if (q === undefined) {
        const page = await storedPage(query, (page) => traces.list(filter, page))
        return listed('traces', shown(page, itemOf), query)
      }
      const { searched, complete, ...found } = await storedPage(query, (page) =>
        traces.search(filter, q, page, searchMs),
      )
      return { ...listed('traces', shown(found, itemOf), query), search: { searched, complete } }
    },
  })

  context.route({
    method: 'post',
    path: '/api/observe/traces',
    access: 'any',
    summary: 'Add a trace of a call that was made elsewhere',
    body: manualTrace,
    status: 201,
    returns: traceDetail,
    async handle({ body, principal }) {
      const { request, response } = body
      const prices = context.use(Pricing)
      const { store } = rules
      const at = beganAt(body, keptDays(body.project))
      const row = manualRow(body, at, principal!, store, (...usage) => {
        const cost = prices.cost(...usage)
        return cost && costOf(cost)
      })
      const sides = { request: JSON.stringify(request), response: JSON.stringify(response) }
      const text = store ? () => bodiesText(sides, rules.maxBytes) : undefined
      await traces.append(row, text, principal)
      added(row)
      return detail(row)
    },
  })

  context.route({
    method: 'get',
    path: '/api/observe/traces/{id}',
    access: 'any',
    summary: 'A trace with its request and response',
    params: z.strictObject({ id: z.string().max(100) }),
    returns: traceDetail,
    async handle({ params: { id }, principal }) {
      return detail(await readable(traces, id, principal))
    },
  })
}

/** Explains calls that happened. */
export function explainRoute(context: Context<unknown>, traces: Traces, arrangements: Arrangements): void {
  context.route({
    method: 'get',
    path: '/api/observe/traces/{id}/explain',
    access: 'any',
    summary: 'Explain a call: modules, changes, route, attempts, price, times',
    params: z.strictObject({ id: z.string().max(100) }),
    returns: traceExplanation,
    async handle({ params: { id }, principal }) {
      const row = await readable(traces, id, principal)
      const kept = (await arrangementOf(arrangements, row))?.modules
      const shown = principal?.type === 'admin' ? kept : kept?.map(({ problem: _, ...rest }) => rest)
      return explained(row, shown, context.use(Pricing))
    },
  })
}

/** How the chain was arranged for a call; undefined where that is not known, or not any more. */
async function arrangementOf(arrangements: Arrangements, { generation, at }: TraceRow) {
  return generation === undefined ? undefined : arrangements.of(generation, at)
}

/** The row of a trace that the caller may read. Refuses one that does not fit what a trace is as if it were not there. */
async function readable(traces: Traces, id: string, principal: Principal | undefined): Promise<TraceRow> {
  const row = await traces.get(id)
  if (!row || !mayRead(principal, row)) throw notFound(`There is no trace ${id}.`, { param: 'id' })
  try {
    traceDetail.parse(detailOf(row, undefined))
  } catch {
    throw notFound(`The stored trace ${id} cannot be read.`, { param: 'id' })
  }
  return row
}

const mayRead = (principal: Principal | undefined, row: TraceRow): boolean =>
  principal?.type === 'admin' || (principal?.userId !== undefined && principal.userId === row.user_id)
