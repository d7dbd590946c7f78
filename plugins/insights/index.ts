import { z } from 'zod'
import { defineArea, Insights as InsightsToken } from '#kernel'
import { Insights } from './insights.ts'
import { insightRoute } from './routes/insights.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const insights = new Insights(context)
    context.provide(InsightsToken, insights)
    insightRoute(context, insights)
  },
})
