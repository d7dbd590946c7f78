import { z } from 'zod'
import { badRequest, type Context, conflict } from '#kernel'
import { listed, listOf, listQuery, type StoredVersion, storedPage } from '#kit'
import type { TemplateChanges } from '../configuration/changes.ts'
import { changeNote, content, fields, label } from '../input.ts'
import { withLabels } from '../labels.ts'
import type { TemplateRow, VersionBody } from '../rows.ts'
import { shownBody, shownVersion, versionDetail, versionItem } from '../shown.ts'
import type { Studio } from '../studio.ts'
import { declaredVariable } from '../variables.ts'
import { authorOf, bySlug, ownerQuery, path } from './addressed.ts'

const { model, params, tools, response_format } = fields

const input = z
  .strictObject({
    content,
    variables: z.array(declaredVariable).max(100),
    model: model.nullable(),
    params: params.nullable(),
    tools: tools.nullable(),
    response_format: response_format.nullable(),
    change_note: changeNote,
    parent_version: z
      .int()
      .min(1)
      .meta({ description: 'Publishes only if this is still the newest version.' }),
    labels: z.array(label).max(10).meta({ description: 'Moves these labels to the new version.' }),
  })
  .partial()
  .required({ content: true })

const numbered = bySlug.extend({ version: z.coerce.number().int().min(1).max(1_000_000) })

/** Versions of templates: who may see a template reads them, and its owner and admins publish. */
export function addVersionRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  studio: Studio,
  changes: TemplateChanges,
): void {
  const { shelf } = studio

  route({
    method: 'get',
    path: `${path}/{slug}/versions`,
    access: 'any',
    summary: 'The versions of a template without their content, newest first',
    params: bySlug,
    query: listQuery.extend(ownerQuery.shape),
    returns: listOf('versions', versionItem),
    throws: [403, 404],
    async handle({ params: { slug }, query, principal }) {
      const template = shelf.known.find(slug, principal!, query.user_id)
      const { items: rows, ...page } = await storedPage(query, (window) => shelf.versions(template, window))
      const opened = await Promise.all(rows.map(async (row) => ({ row, body: await studio.open(row) })))
      const items = opened.flatMap(({ row, body }) => (body ? [shownVersion(template, row, body)] : []))
      const unreadable = (page.unreadable ?? 0) + rows.length - items.length
      return listed('versions', { ...page, items, unreadable }, query)
    },
  })

  route({
    method: 'post',
    path: `${path}/{slug}/versions`,
    access: 'any',
    summary:
      'Publish a version; the next call that pins none uses it. What is left out stays as it is, null clears it',
    params: bySlug,
    query: ownerQuery,
    body: input,
    status: 201,
    returns: versionDetail,
    throws: [403, 404, 409],
    async handle({ params: { slug }, query, body, ...by }) {
      const { principal } = by
      const template = shelf.known.findOwn(slug, principal!, query.user_id)
      const { variables, labels = [], parent_version: asked, ...said } = body
      const parent = template.current_version
      if (asked !== undefined && asked !== parent)
        throw conflict(`Version ${parent} is the newest one.`, { param: 'parent_version' })
      if ((typeof said.content === 'string' ? 'text' : 'chat') !== template.type)
        throw badRequest(`body content: this is a ${template.type} template.`, { param: 'content' })
      const { body: before } = await studio.read(template, parent)
      const version = await studio.draft(
        template,
        {
          ...over(before, said),
          declared: variables ?? before.declared,
          inherits: variables === undefined,
          parent_version: parent,
        },
        authorOf(principal!),
      )
      const after = await changes.publish(
        template,
        parent,
        version,
        (now, next) => ({
          ...now,
          labels: withLabels(now.labels, Object.fromEntries(labels.map((label) => [label, next]))),
        }),
        by,
      )
      return detailOf(after, await studio.read(after, parent + 1))
    },
  })

  route({
    method: 'get',
    path: `${path}/{slug}/versions/{version}`,
    access: 'any',
    summary: 'A version of a template',
    params: numbered,
    query: ownerQuery,
    returns: versionDetail,
    throws: [403, 404],
    async handle({ params: { slug, version }, query, principal }) {
      const template = shelf.known.find(slug, principal!, query.user_id)
      return detailOf(template, await studio.read(template, studio.numberOf(template, { version })))
    },
  })
}

const detailOf = (
  template: TemplateRow,
  { row, body }: { readonly row: StoredVersion; readonly body: VersionBody },
): z.infer<typeof versionDetail> => ({
  ...shownVersion(template, row, body),
  ...shownBody(body),
  lint: body.lint,
  partials: body.partials.map(({ slug, version }) => ({ slug, version })),
})

type Said = Pick<
  z.infer<typeof input>,
  'content' | 'model' | 'params' | 'tools' | 'response_format' | 'change_note'
>

/** What a version says after a change: fields that are left out are those of the version before it. */
function over(
  { model, params, tools, response_format }: VersionBody,
  { content, change_note, ...change }: Said,
): Pick<VersionBody, keyof Said> {
  const all = Object.entries({ model, params, tools, response_format, ...change, change_note })
  return { content, ...Object.fromEntries(all.filter(([, value]) => value !== null && value !== undefined)) }
}
