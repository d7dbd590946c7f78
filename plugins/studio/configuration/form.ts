import { z } from 'zod'
import { badRequest } from '#kernel'
import { mustachePartials, parseMustache } from '#kit'
import { content, description, fields, label, name, slug, tags } from '../input.ts'
import type { Part } from '../publishing.ts'
import { status, visibility } from '../routes/template-input.ts'
import type { VersionBody } from '../rows.ts'
import { declaredVariable } from '../variables.ts'
import { labelsOf, type TemplateSaid } from './said.ts'

/** A template of the admins in documents: what is said of it, and what its newest version says. */
export const templateForm = z.strictObject({
  name: name.optional(),
  description: description.optional(),
  tags: tags.default([]),
  visibility: visibility.default('private'),
  status: status.default('active'),
  content,
  /** The texts of its partials, as the version has them; those that it does not have are looked up. */
  partials: z.record(slug, z.string().min(1).max(200_000)).optional(),
  variables: z.array(declaredVariable).max(100).default([]),
  ...fields,
  /** On this version. */
  labels: z.array(label).max(20).default([]),
})
export type TemplateForm = z.output<typeof templateForm>

export const formOf = (said: TemplateSaid, body: VersionBody | undefined): object => {
  const { name, description, tags, visibility, status } = said
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...{ tags, visibility, status },
    ...(body && textOf(body)),
    labels: labelsOf(said),
  }
}

/** What a version says, as forms have it. Versions that do not know their partials' texts have these in their own. */
export function textOf({ content, resolved, parts, declared, ...body }: VersionBody): object {
  const { model, params, tools, response_format } = body
  return {
    content: resolved !== undefined && !parts ? resolved : content,
    ...(parts && { partials: parts }),
    variables: declared,
    ...(model !== undefined && { model }),
    ...(params && { params }),
    ...(tools && { tools }),
    ...(response_format && { response_format }),
  }
}

/** A partial that a form brings. Throws a bad request for one that has partials itself, as these stand in its text. */
export function partOf(slug: string, text: string): Part {
  const param = `partials.${slug}`
  if (mustachePartials(parseMustache(text, param)).length > 0)
    throw badRequest(`body ${param}: it has a partial itself; its text stands here as it is put in place.`, {
      param,
    })
  return { id: undefined, version: 0, body: { content: text, depth: 0, partials: [] } }
}
