import { z } from 'zod'
import { Anomalies, defineArea } from '#kernel'
import { personalOfUsers } from '#kit'
import { AnomalyFound, DriftDetected } from './events.ts'
import { addRoutes } from './routes.ts'
import { AnomalyStore } from './store.ts'

const hourMs = 3_600_000

export default defineArea({
  settings: z.strictObject({
    retention_days: z.number().min(0.01).max(36_500).default(90).meta({
      title: 'Retention',
      description: 'Days after which an anomaly is deleted. Of more than 10,000 the oldest go first.',
    }),
  }),

  setup(context) {
    const { event, every, personal, provide, settings } = context
    event(AnomalyFound)
    event(DriftDetected)
    const anomalies = new AnomalyStore(context)
    every(hourMs, () => anomalies.prune(settings.retention_days))
    provide(Anomalies, anomalies)
    personal(personalOfUsers(anomalies.ofUsers))
    addRoutes(context, anomalies)
  },
})
