import { z } from 'zod'
import { visibility } from '#kit'
import { definition } from './definition.ts'
import type { WorkflowRow } from './rows.ts'
import { slug } from './step.ts'

const name = z.string().min(1).max(200)
const description = z.string().max(2000)

/** A workflow with its first version. */
export const newWorkflow = definition.extend({
  slug: slug.optional().meta({ description: 'Made of the name without it.' }),
  name,
  description: description.optional(),
  visibility: visibility.default('private'),
  enabled: z.boolean().default(true),
})

const { input_schema, steps, output, limits } = definition.shape

/** A change of a workflow: absent fields stay as they are, null clears one. Of a changed definition it makes a version. */
export const workflowChange = z
  .strictObject({
    name,
    description: description.nullable(),
    visibility,
    enabled: z.boolean(),
    input_schema: input_schema.nullable(),
    steps,
    output: output.nullable().meta({ description: 'Null for the output of the last step.' }),
    limits: limits.unwrap().nullable(),
    version: z.int().min(1).meta({ description: 'Changes only if this is still the newest version.' }),
  })
  .partial()
export type WorkflowChange = z.infer<typeof workflowChange>

/** The slug of a workflow that has only a name. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)

/** The row after a change of what is no part of a version. */
export function changedRow(
  row: WorkflowRow,
  { name, description, visibility, enabled }: WorkflowChange,
): WorkflowRow {
  const { description: before, ...rest } = row
  const after = description === undefined ? before : description
  return {
    ...rest,
    name: name ?? row.name,
    visibility: visibility ?? row.visibility,
    enabled: enabled ?? row.enabled,
    ...(after !== undefined && after !== null && { description: after }),
  }
}
