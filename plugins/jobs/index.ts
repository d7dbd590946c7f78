import { z } from 'zod'
import { defineArea, Jobs, kernelServices } from '#kernel'
import { Contents } from './contents.ts'
import { RemovedPlugins } from './removed.ts'
import { addJobRoutes } from './routes.ts'
import { Scheduler } from './scheduler.ts'
import { JobsService } from './service.ts'
import { emptyJobs } from './state.ts'
import { JobTable } from './table.ts'
import { tidy } from './tidy.ts'

const tidyMs = 60_000

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const { store, memory, log, every, own, provide, use, askFirstThread } = context
    const now = Date.now
    const table = new JobTable(store, now, new Contents(use(kernelServices.secrets)))
    /** The first thread answers itself, the others wait for it. */
    const runsJobs = askFirstThread('runs', () => true)(undefined) === true
    const state = runsJobs ? memory('jobs', emptyJobs) : undefined
    provide(Jobs, new JobsService({ table, now, state }))
    addJobRoutes(context, table, state)
    if (!state) return
    const scheduler = new Scheduler({ state, table, log, now })
    own(() => scheduler.close())
    await scheduler.open()
    const registry = use(kernelServices.registry)
    const isThere = (owner: string): boolean => registry.find(owner) !== undefined
    const removed = new RemovedPlugins({ state, table, log, now, isThere })
    every(tidyMs, async () => {
      await scheduler.remind()
      await tidy(state, table, now())
      await removed.tidy()
    })
  },
})
