import { z } from 'zod'
import { badRequest } from '#kernel'
import { visibilities } from '#kit'
import { changeNote, content, description, fields, label, name, slug, tags } from '../input.ts'
import { withLabels } from '../labels.ts'
import { kinds, statuses, type TemplateRow } from '../rows.ts'
import { declaredVariable } from '../variables.ts'

export const visibility = z.enum(visibilities).meta({ description: 'Only admins share, with all.' })
export const status = z.enum(statuses).meta({
  description: 'Calls do not use what is archived, and others than the owner and admins do not see a draft.',
})

/** A template with its first version. */
export const newTemplate = z.strictObject({
  slug,
  name: name.optional(),
  description: description.optional(),
  tags: tags.default([]),
  visibility: visibility.default('private'),
  status: status.default('active'),
  type: z.enum(kinds).optional().meta({ description: 'What the content is; by default what it looks like.' }),
  content,
  variables: z.array(declaredVariable).max(100).default([]),
  ...fields,
  change_note: changeNote.optional(),
  labels: z.array(label).max(10).default([]).meta({ description: 'For the first version.' }),
})

/** A change of a template: absent fields stay as they are, null clears one. */
export const templateChange = z
  .strictObject({
    name: name.nullable(),
    description: description.nullable(),
    tags,
    visibility,
    status,
    labels: z.record(label, z.int().min(1).nullable()).meta({
      description: 'Versions by label; null takes a label away, and others stay.',
    }),
  })
  .partial()

/** The row after a change. Throws a bad request for a label on a version that is not there. */
export function changed(
  row: TemplateRow,
  { name, description, labels = {}, ...rest }: z.infer<typeof templateChange>,
): TemplateRow {
  for (const [label, version] of Object.entries(labels)) {
    if (version !== null && version > row.current_version)
      throw badRequest(`body labels.${label}: there is no version ${version}.`, { param: `labels.${label}` })
  }
  const next: TemplateRow = { ...row, labels: withLabels(row.labels, labels) }
  for (const [field, value] of Object.entries({ name, description, ...rest })) {
    if (value === null) delete next[field as 'name' | 'description']
    else if (value !== undefined) Object.assign(next, { [field]: value })
  }
  return next
}
