import { z } from 'zod'
import { defineArea, Jobs } from '#kernel'
import { prune } from './prune.ts'
import { addJobRoutes } from './routes.ts'
import { Scheduler } from './scheduler.ts'
import { jobsService } from './service.ts'
import { emptyJobs } from './state.ts'
import { JobTable } from './table.ts'

const pruneMs = 60_000

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const { store, memory, log, every, own, provide, askFirstThread } = context
    const now = Date.now
    const table = new JobTable(store, now)
    /** The first thread answers itself, the others wait for it. */
    const runsJobs = askFirstThread('runs', () => true)(undefined) === true
    const state = runsJobs ? memory('jobs', emptyJobs) : undefined
    provide(Jobs, jobsService({ table, now, state }))
    addJobRoutes(context, table, state)
    if (!state) return
    const scheduler = new Scheduler({ state, table, log, now })
    own(() => scheduler.close())
    await scheduler.open()
    every(pruneMs, () => prune(state, table, now()))
  },
})
