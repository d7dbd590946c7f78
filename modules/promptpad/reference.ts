import { z } from 'zod'
import { badRequest, type Call, type TemplateChoice } from '#kernel'

const prefix = 'template:'

const field = z.strictObject({
  slug: z.string().min(1).max(64).optional(),
  version: z.int().min(1).optional(),
  label: z.string().min(1).max(32).optional(),
  variables: z.record(z.string(), z.unknown()).default({}),
})

/** The template that a call names, and the values for it. */
export interface Reference {
  readonly choice: TemplateChoice
  readonly variables: Readonly<Record<string, unknown>>
  /** Whether it stands in place of a model. */
  readonly isModel: boolean
}

/** What a call says of a template, in the field `template` or in place of a model; undefined for a call without one. */
export function referenceIn({ operation, request }: Call): Reference | undefined {
  const { model, template } = request
  const isModel = model.startsWith(prefix)
  if (template === undefined && !isModel) return undefined
  if (operation !== 'chat')
    throw badRequest('Templates are for chats.', { param: isModel ? 'model' : 'template' })
  const { slug: said, version, label, variables } = parsed(template ?? {})
  const named = isModel ? model.slice(prefix.length) : undefined
  if (named !== undefined && said !== undefined && named !== said)
    throw badRequest('The model names another template.', { param: 'template.slug' })
  const slug = said ?? named
  if (slug === undefined) throw badRequest('Name a template.', { param: 'template.slug' })
  return { choice: { slug, version, label }, variables, isModel }
}

function parsed(template: unknown): z.infer<typeof field> {
  const { data, error } = field.safeParse(template)
  if (data) return data
  const { path, message, ...issue } = error.issues[0]!
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const param = ['template', ...path, ...unknown].join('.').slice(0, 200)
  throw badRequest(`${param}: ${message}.`, { param })
}
