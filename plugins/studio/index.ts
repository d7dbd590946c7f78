import { type Awaitable, defineArea, Templates } from '#kernel'
import { type KeptOfUser, personalOfUsers, rowsOfUsers, Schemas } from '#kit'
import { Benchmarks } from './benchmarks/benchmarks.ts'
import { addBenchmarkRoutes } from './benchmarks/routes.ts'
import { addBenchmarkRunRoutes } from './benchmarks/run-routes.ts'
import { TemplateChanges } from './configuration/changes.ts'
import { isDecided } from './experiments/decide.ts'
import { Experiments } from './experiments/experiments.ts'
import { addExperimentRoutes } from './experiments/routes.ts'
import { addExperimentRunRoute } from './experiments/run-route.ts'
import { addPlaygroundRoute } from './playground/route.ts'
import { addRenderRoute } from './routes/render.ts'
import { addStatusRoute } from './routes/status.ts'
import { addTemplateRoutes } from './routes/templates.ts'
import { addVersionRoutes } from './routes/versions.ts'
import { Runs } from './runs/runs.ts'
import { promptsOf } from './runs/templates.ts'
import { templatesOf } from './service.ts'
import { settings } from './settings.ts'
import { addSnapshotRoutes } from './snapshots/routes.ts'
import { Snapshots } from './snapshots/snapshots.ts'
import { Studio } from './studio.ts'

const hourMs = 3_600_000

export default defineArea({
  settings,

  async setup(context) {
    const studio = new Studio(context)
    const { shelf } = studio
    context.own(await shelf.known.load())
    const changes = new TemplateChanges(context, studio)
    context.provide(Templates, templatesOf(studio))
    const schemas = new Schemas()
    context.own(() => schemas.close())
    const runs = new Runs(context, { schemas, promptsOf: (plan) => promptsOf(studio, plan), isDecided })
    const experiments = new Experiments(context, studio, runs)
    const benchmarks = new Benchmarks(context, runs)
    const snapshots = new Snapshots(context, studio, runs)
    const kept = [
      rowsOfUsers(experiments.things.rows),
      rowsOfUsers(benchmarks.things.rows),
      rowsOfUsers(snapshots.things.rows),
    ]
    context.every(hourMs, () => runs.prune(({ of }) => experiments.things.rows.delete(of)))
    context.personal(
      personalOfUsers({
        count: async (user) =>
          (await shelf.countOf(user)) +
          (await runs.countOf(user)) +
          (await sumOf(kept, ({ count }) => count(user))),
        erase: async (user) =>
          (await runs.eraseOf(user)) +
          (await sumOf(kept, ({ erase }) => erase(user))) +
          (await shelf.eraseOf(user)),
      }),
    )
    addTemplateRoutes(context, studio, changes)
    addVersionRoutes(context, studio, changes)
    addRenderRoute(context, studio)
    addStatusRoute(context, studio, {
      experiments: experiments.things,
      benchmarks: benchmarks.things,
      snapshots: snapshots.things,
    })
    addPlaygroundRoute(context)
    addExperimentRoutes(context, experiments, runs)
    addExperimentRunRoute(context, experiments, runs)
    addBenchmarkRoutes(context, benchmarks)
    addBenchmarkRunRoutes(context, benchmarks, runs)
    addSnapshotRoutes(context, snapshots)
  },
})

async function sumOf(
  all: readonly KeptOfUser[],
  of: (kept: KeptOfUser) => Awaitable<number>,
): Promise<number> {
  let sum = 0
  for (const kept of all) sum += await of(kept)
  return sum
}
