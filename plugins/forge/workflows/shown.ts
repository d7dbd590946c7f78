import { z } from 'zod'
import { visibilities } from '#kit'
import { definition, type Whole } from './definition.ts'
import type { WorkflowRow } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })

/** A workflow without what its versions say. */
export const workflowItem = z.object({
  id: z.string(),
  slug: z.string(),
  user_id: z.string().nullable().meta({ description: 'Its owner; null for a workflow of the admins.' }),
  visibility: z.enum(visibilities),
  name: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  version: z.int().meta({ description: 'The newest one, or the one that was asked for.' }),
  created_at: time,
  updated_at: time,
})

const { steps, limits } = definition.shape

export const workflowDetail = workflowItem.extend({
  input_schema: z.record(z.string(), z.unknown()).nullable(),
  steps,
  output: z.unknown().meta({ description: 'Null for the output of the last step.' }),
  limits: limits.unwrap(),
  workflows: z.array(z.object({ slug: z.string(), version: z.int() })).meta({
    description: 'Workflows that its steps run, in the version that they had when it was saved.',
  }),
})

export const shownWorkflow = ({
  tenant: _,
  current_version,
  ...row
}: WorkflowRow): z.infer<typeof workflowItem> => ({
  ...row,
  user_id: row.user_id ?? null,
  description: row.description ?? null,
  version: current_version,
})

export const shownDetail = (
  row: WorkflowRow,
  version: number,
  { input_schema, steps, output, limits, nested }: Whole,
): z.infer<typeof workflowDetail> => ({
  ...shownWorkflow(row),
  version,
  input_schema: input_schema ?? null,
  steps,
  output: output ?? null,
  limits,
  workflows: Object.entries(nested).map(([slug, { version }]) => ({ slug, version })),
})
