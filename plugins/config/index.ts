import { z } from 'zod'
import { Configuration, defineArea } from '#kernel'
import { addHistoryRoutes } from './routes/history.ts'
import { addRollbackRoute } from './routes/rollback.ts'
import { addSnapshotRoutes } from './routes/snapshots.ts'
import { addWholeRoutes } from './routes/whole.ts'
import { wholeConfiguration } from './whole.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    const configuration = wholeConfiguration(context)
    context.provide(Configuration, configuration)
    addWholeRoutes(context, configuration)
    addSnapshotRoutes(context, configuration)
    addHistoryRoutes(context)
    addRollbackRoute(context)
  },
})
