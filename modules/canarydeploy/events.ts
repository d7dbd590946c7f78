import { z } from 'zod'
import { defineEvent } from '#kernel'
import { statuses } from './rollout.ts'

const about = z.object({
  rollout: z.string(),
  model: z.string(),
  target: z.string(),
  status: z.enum(statuses),
  from_percent: z.number(),
  percent: z.number().meta({ description: 'Percent of the calls that go to the new model now.' }),
  reason: z.string(),
})

/** By what a rollout has become. */
export const CanaryMoved = {
  running: defineEvent('canary.advanced', about, {
    description: 'More calls go to the new model of a rollout.',
  }),
  completed: defineEvent('canary.completed', about, {
    description: 'All calls go to the new model of a rollout.',
  }),
  rolled_back: defineEvent('canary.rolled_back', about, {
    description: 'No more calls go to the new model of a rollout; the reason says why.',
  }),
}
