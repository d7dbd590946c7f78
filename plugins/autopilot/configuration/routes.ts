import { z } from 'zod'
import { type Context, Plans } from '#kernel'
import type { Ranking } from '../routing/ranking.ts'
import { scoreItem, scoreItemOf } from '../scores/item.ts'
import type { Configured } from './configured.ts'
import { change, configuration } from './fields.ts'

const path = '/api/autopilot'

const shown = z.object({
  config: configuration,
  state: z.enum(['off', 'uncalibrated', 'ready', 'degraded']).meta({
    description:
      'Uncalibrated: no candidate has a score. Degraded: none qualifies, or one is suspended; the reference model answers in their place.',
  }),
  current_route: z
    .object({
      model: z.string(),
      provider: z.string().nullable(),
      reason: z.string(),
      since: z.string().meta({ format: 'date-time' }).nullable(),
    })
    .nullable()
    .meta({ description: 'Where a call goes that any model can answer; null without a reference model.' }),
  models_scored: z.int(),
  scores: z.record(z.string(), scoreItem),
  last_calibrated_at: z.string().meta({ format: 'date-time' }).nullable(),
})

/** To read and change the configuration, for admins. */
export function addConfigurationRoutes(
  { route, find }: Pick<Context<unknown>, 'route' | 'find'>,
  { configured, ranking }: { configured: Configured; ranking: Ranking },
): void {
  function shownNow(): z.infer<typeof shown> {
    const { current, updatedAt = null } = configured
    const { standings, better } = ranking.now
    const last =
      standings
        .map(({ score }) => score.at)
        .sort()
        .at(-1) ?? null
    const [best] = current.enabled ? better : []
    const model = best?.score.model ?? current.reference_model
    const reason = best
      ? `the best that qualifies by ${current.mode}`
      : current.enabled
        ? 'no other model qualifies'
        : 'autopilot is off'
    const since =
      [updatedAt, last]
        .filter((at) => at !== null)
        .sort()
        .at(-1) ?? null
    return {
      config: current,
      state: configured.isOn ? ranking.state : 'off',
      current_route: model === null ? null : { model, provider: best?.score.provider ?? null, reason, since },
      models_scored: standings.length,
      scores: Object.fromEntries(
        standings.map((standing) => [standing.score.model, scoreItemOf(find, standing)]),
      ),
      last_calibrated_at: last,
    }
  }

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'The configuration of autopilot, its state, the scores of models and where calls go',
    returns: shown,
    handle: shownNow,
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Change the configuration of autopilot; it holds for the next call',
    body: change,
    returns: shown,
    throws: [403, 409],
    async handle(input) {
      find(Plans)?.demand(input.principal!, 'pro', 'Settings of autopilot')
      await configured.change(input.body, input)
      return shownNow()
    },
  })
}
