import { z } from 'zod'
import { changeOf } from '#kit'

/** Names that ask for autopilot. */
export const ownNames: readonly string[] = ['autopilot', 'auto']

export const modes = ['cost', 'speed', 'balanced'] as const
export type Mode = (typeof modes)[number]

const model = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => !ownNames.includes(name), 'is a name of autopilot itself')

const names = z.array(z.string().min(1).max(200)).max(1000)

const share = z.number().min(0).max(1)

/** What is used where no rubric is given. */
const usualRubric =
  'A good answer is correct, does what was asked in the asked form, and leaves out nothing that matters. Length is no merit.'

/** The settings of autopilot, each with its default. */
export const fields = {
  enabled: z.boolean().default(false).meta({ description: 'Whether calls are routed.' }),
  mode: z.enum(modes).default('cost').meta({
    description:
      'What a model is chosen by: the lowest cost or the shortest time in its calibration, or the lowest sum of both, in proportion to the reference model.',
  }),
  quality_threshold: share.default(0.85).meta({
    description: 'The share of answers as good as the reference model’s that the lower bound must reach.',
  }),
  reference_model: model.nullable().default(null).meta({
    description: 'The model that others are compared with, and that answers where none qualifies.',
  }),
  candidate_models: z
    .array(model)
    .max(20)
    .refine((models) => new Set(models).size === models.length, 'names a model twice')
    .default([])
    .meta({ description: 'Models that calls may be routed to, as model or provider/model.' }),
  judge: z
    .strictObject({
      model: model.nullable().default(null).meta({ description: 'The model that compares answers.' }),
      rubric: z.string().min(1).max(20_000).default(usualRubric).meta({
        description: 'What makes an answer good, in words.',
      }),
    })
    .prefault({})
    .meta({ description: 'Who compares answers, and by what.' }),
  sample_size: z.int().min(1).max(200).default(40).meta({ description: 'Calls that a calibration repeats.' }),
  max_cost_usd: z.number().positive().max(10_000).nullable().default(null).meta({
    description: 'The most that a calibration may cost. There is none without it.',
  }),
  min_success_rate: share.default(0.8).meta({
    description: 'The share of calls that a model must answer, in calibration and afterwards.',
  }),
  confidence: z
    .union([z.literal(0.8), z.literal(0.9), z.literal(0.95), z.literal(0.98), z.literal(0.99)])
    .default(0.95)
    .meta({ description: 'Of the interval whose lower bound counts.' }),
  explore_pct: z.number().min(0).max(50).default(0).meta({
    description: 'Percentage of routed calls that go to another qualifying model than the best.',
  }),
  guard: z
    .strictObject({
      max_latency_ms: z.int().min(1).max(3_600_000).nullable().default(null).meta({
        description:
          'The mean time of an answer that a model may have; later, a slower call counts as failed.',
      }),
      require_tools: z.boolean().default(false).meta({ description: 'Only models that call tools.' }),
      require_json: z
        .boolean()
        .default(false)
        .meta({ description: 'Only models that keep to a JSON schema.' }),
    })
    .prefault({})
    .meta({ description: 'What every model must have, whatever the request.' }),
  content: z
    .strictObject({
      users: names.default([]).meta({ description: 'Ids of users.' }),
      projects: names.default([]).meta({ description: 'Values of X-Project.' }),
    })
    .prefault({})
    .meta({
      description:
        'Whose calls a calibration may repeat. Their contents go to the providers of all candidates and of the judge.',
    }),
  auto_recalibrate: z
    .strictObject({
      every: z
        .string()
        .regex(/^[1-9]\d{0,3}[hd]$/, 'must be a number of hours or days, such as 12h or 7d')
        .nullable()
        .default(null)
        .meta({ description: 'How long after the last calibration the next one begins.' }),
      on_drift: z.boolean().default(false).meta({
        description: 'Whether a model that is suspended is calibrated again at once.',
      }),
    })
    .prefault({})
    .meta({
      description: 'When calibrations begin by themselves, in the name of the admin who began the last one.',
    }),
} as const

export const configuration = z.strictObject(fields)
export type Configuration = z.infer<typeof configuration>

/** The first field that does not go with the others, and what it must be. */
export function mismatchOf({
  enabled,
  reference_model: reference,
  candidate_models: candidates,
  judge,
}: Configuration): { readonly field: string; readonly rule: string } | undefined {
  if (enabled && reference === null) {
    const rule = 'must name a model while autopilot is enabled, to answer where no other qualifies'
    return { field: 'reference_model', rule }
  }
  if (reference !== null && candidates.includes(reference)) {
    const rule = `must be without the reference model ${reference}, which needs no comparison`
    return { field: 'candidate_models', rule }
  }
  if (judge.model !== null && (judge.model === reference || candidates.includes(judge.model))) {
    const rule = 'must not be the reference model or a candidate: none can judge its own answers'
    return { field: 'judge.model', rule }
  }
  return undefined
}

/** The configuration as service.yaml has it: what does not go together there is a fault of the file. */
export const configurationOfFile = configuration.superRefine((fields, { addIssue }) => {
  const wrong = mismatchOf(fields)
  if (wrong) addIssue({ code: 'custom', path: wrong.field.split('.'), message: wrong.rule })
})

type Field = z.ZodDefault | z.ZodPrefault

/** The fields without their defaults, as a change that does not name one sets nothing. */
const bare = Object.fromEntries(
  Object.entries<Field>(fields).map(([name, field]) => [
    name,
    (field.unwrap() as z.ZodType).meta({ description: field.description }),
  ]),
)

/** A change of it: absent fields stay, null goes back to what service.yaml says. */
export const change = changeOf(bare)
