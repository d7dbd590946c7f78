import { z } from 'zod'
import { Autopilot, type AutopilotRoute, defineArea } from '#kernel'
import { detach, personalOfUsers, retained } from '#kit'
import { ModelAdvice } from '#provider'
import { Asking } from './calibration/asking.ts'
import { Calibrations } from './calibration/calibrations.ts'
import { Comparison } from './calibration/comparison.ts'
import { Recalibration } from './calibration/recalibration.ts'
import { addCalibrationRoutes } from './calibration/routes.ts'
import type { AnswerRow } from './calibration/rows.ts'
import { Cap } from './cap.ts'
import { Configured } from './configuration/configured.ts'
import { configurationOfFile, ownNames } from './configuration/fields.ts'
import { addConfigurationRoutes } from './configuration/routes.ts'
import { Decisions } from './decisions/decisions.ts'
import { addDecisionRoutes } from './decisions/routes.ts'
import { Drift } from './drift/drift.ts'
import { Estimates } from './routing/estimates.ts'
import { hooksOf } from './routing/hooks.ts'
import { Openings } from './routing/openings.ts'
import { Ranking } from './routing/ranking.ts'
import type { Chosen } from './routing/route.ts'
import { advice, Router } from './routing/router.ts'
import { Savings } from './savings.ts'
import { addScoreRoute } from './scores/route.ts'
import { Scores } from './scores/scores.ts'

const hourMs = 3_600_000
const lookMs = 300_000

export default defineArea({
  settings: z.strictObject({
    autopilot: configurationOfFile.prefault({}).meta({
      title: 'Autopilot',
      description: 'What PUT /api/autopilot sets, for a gateway that begins with it.',
    }),
  }),

  async setup(context) {
    const { settings, own, find, use, every, personal, provide } = context
    const configured = new Configured(context, settings.autopilot)
    const scores = new Scores(context)
    const ranking = new Ranking(configured, scores)
    const decisions = new Decisions(context)
    const cap = new Cap(context)

    const estimates = new Estimates(context)
    const asking = new Asking(context, estimates)
    const keep = (row: AnswerRow) => calibrations.keep(row)
    const guard = () => configured.current.guard
    const comparison = new Comparison({ context, asking, estimates, guard, keep })
    const content = () => configured.current.content
    const calibrations: Calibrations = new Calibrations(context, scores, { use, comparison, content })
    const recalibration = new Recalibration(context, configured, calibrations)
    every(hourMs, () => recalibration.check())
    const suspended = (model: string) => detach('a calibration', recalibration.drifted(model))
    const drift = new Drift(context, { configured, scores, suspended })

    own(
      await scores.load((row) => {
        ranking.forget()
        if (row && !row.suspended) drift.forget(row.model)
      }),
    )
    own(await configured.load(() => ranking.forget()))

    const openings = new Openings({ find, configured, estimates })
    const router = new Router({ configured, ranking, cap, estimates, openings })
    provide(ModelAdvice, { adviceFor: (model) => (ownNames.includes(model) ? advice : undefined) })
    const autopilot: Autopilot = {
      isPure: !cap.actsHere,
      get standing() {
        return { isOn: configured.current.enabled, modelsCalibrated: scores.all.length }
      },
      route: (call, options) => router.route(call, options),
      varies: (call) => (router.concerns(call) ? ranking.now.edition : undefined),
      settled(call, route: AutopilotRoute, end) {
        const chosen = route as Chosen
        if (!chosen.isCounted) return
        decisions.record(call, router.placed(call, chosen), end)
        drift.learn(call, chosen, end)
      },
    }
    provide(Autopilot, autopilot)

    retained(context, {
      sweep: async (ages) => {
        await decisions.prune(ages('traces').days)
        await calibrations.prune(ages('bodies').days)
      },
    })
    for (const { ofUsers } of [decisions, calibrations]) personal(personalOfUsers(ofUsers))
    addConfigurationRoutes(context, { configured, ranking })
    addScoreRoute(context, ranking)
    const savings = new Savings(context, decisions)
    every(lookMs, () => savings.check())
    addDecisionRoutes(context, { decisions, cap, savings, calibrationsRun: () => calibrations.countRun() })
    addCalibrationRoutes(context, { configured, ranking, calibrations })
    return hooksOf(autopilot, context, () => configured.isOn)
  },
})
