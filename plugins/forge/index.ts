import { defineArea, Sealing } from '#kernel'
import { personalOfUsers, Schemas, SealedJson } from '#kit'
import { Batches } from './batches/batches.ts'
import { addBeginBatchRoutes } from './batches/begin-routes.ts'
import { addBatchRoutes } from './batches/routes.ts'
import { addTurnRoutes } from './batches/turn-routes.ts'
import { addApproveRoute } from './runs/approve-route.ts'
import { addBeginRoute } from './runs/begin-route.ts'
import { addRunRoutes } from './runs/routes.ts'
import { Runs } from './runs/runs.ts'
import { addMessageRoutes } from './sessions/message-routes.ts'
import { addSessionRoutes } from './sessions/routes.ts'
import { Talks } from './sessions/talks.ts'
import { settings } from './settings.ts'
import { addStatusRoute } from './status-route.ts'
import { addToolRoutes } from './tools/routes.ts'
import { Tools } from './tools/tools.ts'
import { addWorkflowRoutes } from './workflows/routes.ts'
import { Workflows } from './workflows/workflows.ts'

const hourMs = 3_600_000

export default defineArea({
  settings,

  async setup(context) {
    const schemas = new Schemas()
    context.own(() => schemas.close())
    const tools = await Tools.open(context, new SealedJson(context, () => context.use(Sealing)), schemas)
    const workflows = new Workflows(context, tools)
    const { shelf } = workflows
    context.own(await shelf.known.load())
    const runs = new Runs(context, workflows, tools)
    const batches = new Batches(context, runs)
    const talks = new Talks(context)
    context.every(hourMs, async () => {
      await runs.prune()
      await batches.prune()
      await talks.prune(context.settings.session_days)
    })
    context.personal(
      personalOfUsers({
        count: async (user) =>
          shelf.countOf(user) +
          tools.known.of(user).length +
          (await runs.countOf(user)) +
          (await batches.countOf(user)) +
          (await talks.store.count(user)),
        erase: async (user) =>
          (await batches.eraseOf(user)) +
          (await runs.eraseOf(user)) +
          (await shelf.eraseOf(user)) +
          (await tools.eraseOf(user)) +
          (await talks.store.eraseOf(user)),
      }),
    )
    addWorkflowRoutes(context, workflows, runs)
    addBeginRoute(context, workflows, runs)
    addRunRoutes(context, runs)
    addApproveRoute(context, runs)
    addBeginBatchRoutes(context, workflows, batches)
    addBatchRoutes(context, batches)
    addTurnRoutes(context, batches)
    addSessionRoutes(context, talks)
    addMessageRoutes(context, talks)
    addToolRoutes(context, tools)
    addStatusRoute(context, { workflows, runs, batches, tools, talks })
  },
})
