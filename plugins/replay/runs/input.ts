import { z } from 'zod'
import { overrides } from './overrides.ts'
import { visibilities } from './row.ts'

const traceId = z.string().min(1).max(100).meta({ description: 'From the header X-Trace-Id of the answer.' })
const model = z.string().min(1).max(256)

const visibility = z.enum(visibilities).default('private').meta({
  description:
    'Who reads the runs beside their owner and admins: nobody, or, for those of admins, everybody.',
})

export const mostTargets = 5

/** One call against one model. */
export const replayInput = z.strictObject({
  trace_id: traceId,
  target_model: model,
  overrides: overrides.prefault({}),
  visibility,
})

/** One call against several models. */
export const batchInput = z.strictObject({
  trace_id: traceId,
  target_models: z
    .array(model)
    .min(1)
    .max(mostTargets)
    .refine((all) => new Set(all).size === all.length, 'names a model twice'),
  overrides: overrides.prefault({}),
  visibility,
})
