import { defineEvent } from '#kernel'
import { anomaly } from './view.ts'

export const AnomalyFound = defineEvent('anomaly.found', anomaly, {
  description:
    'A call, or the calls of a few minutes, are far from what is usual for their model or their user.',
})

export const DriftDetected = defineEvent('drift.detected', anomaly, {
  description:
    'The answers of a model have changed: their length, language, latency, or how many refuse or fail as JSON.',
})
