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
import { addComparisonShareRoutes } from './shares/comparison-routes.ts'
import { Links } from './shares/links.ts'
import { addPlaygroundShareRoutes } from './shares/playground-routes.ts'
import { SecretGate } from './shares/secrets.ts'
import { Shares } from './shares/shares.ts'

const hourMs = 3_600_000

export default defineArea({
  settings: z.strictObject({
    share_days: z.int().min(1).max(365).default(30).meta({
      title: 'Days of a share',
      description: 'How long a new link works.',
    }),
    reads_per_minute: z.int().min(0).max(1_000_000).default(60).meta({
      title: 'Reads of shares',
      description: 'Shares that one address may read in a minute; 0 for any number.',
    }),
    public_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'Public address',
        description:
          'What links begin with, such as https://gateway.example.com; without it, the address of the request that makes the link.',
      }),
  }),

  setup(context) {
    const { share_days, reads_per_minute: readsPerMinute, public_url: publicUrl } = context.settings
    const runs = new Runs(context)
    const maker = new RunMaker(context, runs)
    const shownRuns = new ShownRuns(context, runs, maker)
    const { startedAt } = context.use(kernelServices.runtime)
    context.whenLive(() => runs.endInterrupted(startedAt))
    retained(context, { sweep: (ages) => runs.prune(ages('traces').days) })
    context.personal(personalOfUsers(runs.ofUsers))
    addReplayRoutes(context, maker, shownRuns)
    addAgainRoute(context, maker, shownRuns)
    addRunRoutes(context, runs, maker, shownRuns)
    addCompareRoute(context, shownRuns)
    addStatsRoute(context, runs)

    const shares = new Shares(context, share_days)
    const links = new Links({ publicUrl, readsPerMinute })
    const secrets = new SecretGate()
    context.every(hourMs, () => shares.prune())
    context.personal(personalOfUsers(shares.ofUsers))
    addComparisonShareRoutes(context, shares, links, secrets, shownRuns)
    addPlaygroundShareRoutes(context, shares, links, secrets)
  },
})
