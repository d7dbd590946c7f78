import { z } from 'zod'
import { answer, answers, type Context, Plans, Sealing } from '#kernel'
import { bodySeals, listed, listOf, listQuery, storedPage, usdOf } from '#kit'
import type { Configured } from '../configuration/configured.ts'
import type { Ranking } from '../routing/ranking.ts'
import { scoreItemOf } from '../scores/item.ts'
import type { Calibrations } from './calibrations.ts'
import { planOf } from './plan.ts'
import { type AnswerRow, type CalibrationRow, spentOn, traceFilter } from './rows.ts'
import { type CalibrationItem, calibrationItem, calibrationItemOf, logItem, logItemOf } from './shown.ts'
import { waitFor } from './waiting.ts'

const params = z.strictObject({ id: z.string().min(1).max(100) })
const previews = z.object({ reference: z.string(), candidate: z.string() })

const body = z
  .strictObject({
    candidates: z.array(z.string().min(1).max(256)).min(1).max(20).optional(),
    sample_size: z.int().min(1).max(200).optional(),
    max_cost_usd: z.number().positive().max(10_000).optional(),
    trace_filter: traceFilter.optional(),
    dry_run: z.boolean().default(false).meta({ description: 'Only says which calls would be repeated.' }),
    wait_ms: z.int().min(0).max(60_000).default(10_000).meta({
      description: 'How long the answer may wait for the end of the calibration.',
    }),
  })
  .prefault({})

type Parts = {
  readonly configured: Configured
  readonly ranking: Ranking
  readonly calibrations: Calibrations
}

/** To begin calibrations, to see what they found, and to cancel them, for admins. */
export function addCalibrationRoutes(
  context: Pick<Context<unknown>, 'id' | 'route' | 'find' | 'use'>,
  { configured, ranking, calibrations }: Parts,
): void {
  const { route, find, use } = context
  const seals = bodySeals(context, () => use(Sealing))

  async function itemOf(row: CalibrationRow): Promise<CalibrationItem> {
    const found = await calibrations.answersOf(row.id)
    const isOver = row.status !== 'running'
    const spent = isOver ? row.spent_nano : found.reduce((sum, one) => sum + spentOn(one), 0)
    const { standings, better } = ranking.now
    const own = standings.filter(({ score }) => score.calibration_id === row.id)
    const scores = Object.fromEntries(own.map((one) => [one.score.model, scoreItemOf(find, one)]))
    const best = better[0]?.score.model ?? null
    const { mode } = configured.current
    const reason = best === null ? 'No other model qualifies.' : `The best that qualifies by ${mode}.`
    return calibrationItemOf(row, found, spent, scores, { model: best, reason })
  }

  async function logOf(row: AnswerRow): Promise<z.infer<typeof logItem>> {
    const json = row.previews && (await seals.tryOpen(row.previews))
    return logItemOf(row, json === undefined || json === '' ? undefined : previews.parse(JSON.parse(json)))
  }

  route({
    method: 'post',
    path: '/api/autopilot/calibrate',
    access: 'admin',
    summary:
      'Have candidates answer past calls again and a judge compare; 200 with the scores, or 202 while it goes on',
    body,
    returns: answers({ 200: calibrationItem, 202: calibrationItem }),
    throws: [403, 409, 422],
    async handle({ body: { dry_run, wait_ms, ...asked }, principal, ip, signal }) {
      find(Plans)?.demand(principal!, 'pro', 'Calibrations')
      const wish = await planOf(context, configured, asked, { principal: principal!, ip })
      if (dry_run) return answer(200, plannedItem(wish))
      const { id } = await calibrations.begin(wish)
      await waitFor(calibrations, id, wait_ms, signal)
      const row = await calibrations.find(id)
      const item = await itemOf(row)
      return row.status === 'running' ? answer(202, item) : answer(200, item)
    },
  })

  route({
    method: 'get',
    path: '/api/autopilot/calibrations/{id}',
    access: 'admin',
    summary: 'How far a calibration is, and what it found',
    params,
    returns: calibrationItem,
    throws: [404],
    handle: async ({ params: { id } }) => itemOf(await calibrations.find(id)),
  })

  route({
    method: 'post',
    path: '/api/autopilot/calibrations/{id}/cancel',
    access: 'admin',
    summary: 'End a calibration at once; its scores count for nothing',
    params,
    returns: calibrationItem,
    throws: [404, 409],
    async handle({ params: { id } }) {
      await calibrations.cancel(id)
      return itemOf(await calibrations.find(id))
    },
  })

  route({
    method: 'get',
    path: '/api/autopilot/calibration-log',
    access: 'admin',
    summary: 'Each answer that was compared, with its score, newest first',
    query: listQuery.extend({ calibration_id: z.string().max(100).optional() }),
    returns: listOf('log', logItem),
    async handle({ query: { calibration_id: of, ...window } }) {
      const which = of === undefined ? { index: 'at' } : { index: 'calibration', equals: [of] }
      const list = calibrations.answers.list.bind(calibrations.answers)
      const { items, ...page } = await storedPage(window, (options) =>
        list({ ...which, ...options, reverse: true }),
      )
      return listed('log', { ...page, items: await Promise.all(items.map(logOf)) }, window)
    },
  })
}

const plannedItem = ({
  reference,
  candidates,
  samples,
  max_nano,
}: Awaited<ReturnType<typeof planOf>>): CalibrationItem => ({
  ...{ calibration_id: null, status: 'planned', reference_model: reference, candidates: [...candidates] },
  ...{ models_scored: 0, traces_used: samples.length, cost_usd: 0, max_cost_usd: usdOf(max_nano) },
  ...{ out_of_money: false, duration_ms: 0, scores: {}, recommendation: null, error: null },
  ...{ created_at: null, ended_at: null },
})
