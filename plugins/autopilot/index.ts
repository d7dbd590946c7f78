import { z } from 'zod'
import { Autopilot, type AutopilotRoute, defineArea } from '#kernel'
import { detach, personalOfUsers, retained } from '#kit'
import { ModelAdvice } from '#provider'
import { Cap } from './cap.ts'
import { Configured } from './configuration/configured.ts'
import { configuration, ownNames } from './configuration/fields.ts'
import { addConfigurationRoutes } from './configuration/routes.ts'
import { Switch } from './configuration/switch.ts'
import { Decisions } from './decisions/decisions.ts'
import { addDecisionRoutes } from './decisions/routes.ts'
import { Drift } from './drift/drift.ts'
import { Estimates } from './routing/estimates.ts'
import { Ranking } from './routing/ranking.ts'
import type { Chosen } from './routing/route.ts'
import { advice, Router } from './routing/router.ts'
import { addScoreRoute } from './scores/route.ts'
import { Scores } from './scores/scores.ts'

export default defineArea({
  settings: z.strictObject({
    autopilot: configuration.prefault({}).meta({
      title: 'Autopilot',
      description: 'What PUT /api/autopilot sets, for a gateway that begins with it.',
    }),
  }),

  async setup(context) {
    const { settings, own, find, personal, provide, whenLive, inFirstThread } = context
    const configured = new Configured(context, settings.autopilot)
    const scores = new Scores(context)
    const ranking = new Ranking(configured, scores)
    const power = new Switch(context, configured)
    const decisions = new Decisions(context)
    const cap = new Cap(context)

    const follow = inFirstThread('switch', () => detach('the switch of autopilot', power.follow()))
    own(await scores.load(() => ranking.forget()))
    own(
      await configured.load((isForeign) => {
        ranking.forget()
        if (isForeign) follow(undefined)
      }),
    )
    whenLive(() => follow(undefined))

    const drift = new Drift(context, { configured, scores, suspended: () => {} })
    const router = new Router({ find, configured, ranking, cap, estimates: new Estimates(context) })
    provide(ModelAdvice, { adviceFor: (model) => (ownNames.includes(model) ? advice : undefined) })
    provide(Autopilot, {
      isPure: !cap.actsHere,
      route: (call, options) => router.route(call, options),
      varies: (call) => (router.concerns(call) ? ranking.now.edition : undefined),
      settled(call, route: AutopilotRoute, end) {
        const chosen = route as Chosen
        if (!chosen.isCounted) return
        decisions.record(call, chosen, end)
        drift.learn(call, chosen, end)
      },
    })

    retained(context, { sweep: (ages) => decisions.prune(ages('traces').days) })
    personal(personalOfUsers(decisions.ofUsers))
    addConfigurationRoutes(context, { configured, ranking, power })
    addScoreRoute(context, ranking)
    addDecisionRoutes(context, { decisions, cap, calibrationsRun: async () => 0 })
  },
})
