import { z } from 'zod'
import { defineArea, kernelServices } from '#kernel'
import { personalOfUsers, retained } from '#kit'
import { addAgainRoute } from './again/route.ts'
import { addCompareRoute } from './compare/route.ts'
import { addStatsRoute } from './compare/stats-route.ts'
import { RunMaker } from './runs/make.ts'
import { addReplayRoutes } from './runs/replay-routes.ts'
import { addRunRoutes } from './runs/routes.ts'
import { Runs } from './runs/runs.ts'
import { ShownRuns } from './runs/shown.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const runs = new Runs(context)
    const maker = new RunMaker(context, runs)
    const shownRuns = new ShownRuns(context, runs, maker)
    const { startedAt } = context.use(kernelServices.runtime)
    context.whenLive(() => runs.endInterrupted(startedAt))
    retained(context, { sweep: (ages) => runs.prune(ages('traces').days) })
    context.personal(personalOfUsers(runs.ofUsers))
    addReplayRoutes(context, maker, shownRuns)
    addAgainRoute(context, maker, shownRuns)
    addRunRoutes(context, runs, shownRuns)
    addCompareRoute(context, shownRuns)
    addStatsRoute(context, runs)
  },
})
