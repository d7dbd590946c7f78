import { z } from 'zod'
import { defineArea } from '#kernel'
import { Insights } from './insights.ts'
import { insightRoute } from './routes/insights.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    insightRoute(context, new Insights(context))
  },
})
