import { z } from 'zod'
import { defineArea, TraceReader } from '#kernel'
import { personalOfUsers } from '#kit'
import { logRoutes } from './routes/log.ts'
import { summaryRoute } from './routes/summary.ts'
import { SafetyLog } from './safety-log.ts'

/** Requests catch up themselves; between them this keeps what they have to read small. */
const everyMs = 10_000

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const log = new SafetyLog(context, () => context.use(TraceReader))
    context.every(everyMs, () => log.catchUp())
    context.personal(
      personalOfUsers({ count: (id) => log.countOf(id), erase: (id) => log.eraseOf(id) }, ['request']),
    )
    logRoutes(context, log)
    summaryRoute(context, log)
  },
})
