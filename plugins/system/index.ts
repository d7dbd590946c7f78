import { z } from 'zod'
import { CallSettled, defineArea } from '#kernel'
import { addBackupRoutes } from './routes/backups.ts'
import { addCatalogueRoutes } from './routes/catalogue.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addOpenapiRoute } from './routes/openapi.ts'
import { addStatusRoute } from './routes/status.ts'
import { storeProbe } from './store-probe.ts'
import { type Counted, emptyTraffic, record } from './traffic.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const traffic = context.memory('traffic', emptyTraffic)
    const count = context.inFirstThread<Counted>('traffic', (call) => record(traffic, call))
    context.on(CallSettled, ({ outcome: { ending, latencyMs, upstreamMs } }) =>
      count({ ending, latencyMs, upstreamMs }),
    )

    const answers = storeProbe(context.store)
    addHealthRoutes(context, answers)
    addStatusRoute(context, traffic, answers)
    addCatalogueRoutes(context)
    addBackupRoutes(context)
    addOpenapiRoute(context)
  },
})
