import { z } from 'zod'
import { CallSettled, defineArea } from '#kernel'
import { addCatalogueRoutes } from './routes/catalogue.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addOpenapiRoute } from './routes/openapi.ts'
import { addPlanRoutes } from './routes/plans.ts'
import { addStatusRoute } from './routes/status.ts'
import { storeProbe } from './store-probe.ts'
import { emptyTraffic, record } from './traffic.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const traffic = context.memory('traffic', emptyTraffic)
    context.on(CallSettled, ({ outcome }) => record(traffic, outcome))

    const answers = storeProbe(context.store)
    addHealthRoutes(context, answers)
    addStatusRoute(context, traffic, answers)
    addPlanRoutes(context)
    addCatalogueRoutes(context)
    addOpenapiRoute(context)
  },
})
