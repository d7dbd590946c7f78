import { z } from 'zod'
import { defineArea } from '#kernel'
import { addHistoryRoutes } from './routes/history.ts'
import { addRollbackRoute } from './routes/rollback.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    addHistoryRoutes(context)
    addRollbackRoute(context)
  },
})
