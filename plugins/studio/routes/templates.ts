import { z } from 'zod'
import { badRequest, type Context, newId } from '#kernel'
import { checkVisibility, forbidOthers, listed, listOf, listQuery, pageOf, scopeOf } from '#kit'
import type { TemplateChanges } from '../configuration/changes.ts'
import { withLabels } from '../labels.ts'
import type { TemplateRow } from '../rows.ts'
import { shownBody, shownTemplate, templateDetail, templateItem } from '../shown.ts'
import type { Studio } from '../studio.ts'
import { authorOf, bySlug, ownerQuery, path } from './addressed.ts'
import { changed, newTemplate, status, templateChange, visibility } from './template-input.ts'

/** Templates: users manage their own and see those that are shared, admins all. */
export function addTemplateRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  studio: Studio,
  changes: TemplateChanges,
): void {
  const { shelf } = studio

  const detailOf = async (row: TemplateRow): Promise<z.infer<typeof templateDetail>> => {
    const { body } = await studio.read(row, row.current_version)
    return { ...shownTemplate(row), ...shownBody(body) }
  }

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The templates that the caller may see, newest first, without their content',
    query: listQuery.extend({
      ...ownerQuery.shape,
      tag: z.string().max(64).optional(),
      status: status.optional(),
      visibility: visibility.optional(),
    }),
    returns: listOf('templates', templateItem),
    throws: [403],
    handle({ query, principal }) {
      const { tag, status, visibility } = query
      const user_id = query.user_id && forbidOthers(principal, query.user_id)
      const all = shelf.known
        .seenBy(principal!)
        .filter(
          (row) =>
            (user_id === undefined || row.user_id === user_id) &&
            (tag === undefined || row.tags.includes(tag)) &&
            (status === undefined || row.status === status) &&
            (visibility === undefined || row.visibility === visibility),
        )
      const { items, ...page } = pageOf(all, query, ({ id }) => id)
      return listed('templates', { ...page, items: items.map(shownTemplate) }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make a template with its first version',
    body: newTemplate,
    status: 201,
    returns: templateDetail,
    throws: [403, 404, 409],
    async handle({ body, ...by }) {
      const { principal } = by
      const { slug, name, description, tags, visibility, status, type, labels, ...rest } = body
      const { variables: declared, ...said } = rest
      const kind = typeof said.content === 'string' ? 'text' : 'chat'
      if (type !== undefined && type !== kind)
        throw badRequest(`body type: the content is that of a ${kind} template.`, { param: 'type' })
      const now = new Date().toISOString()
      const { tenant } = principal!
      const user_id = scopeOf(principal)
      const owner = {
        id: newId('tpl_'),
        ...(user_id !== undefined && { user_id }),
        ...(tenant !== undefined && { tenant }),
      }
      checkVisibility(visibility, owner, 'templates')
      const author = authorOf(principal!)
      const version = await studio.draft(
        owner,
        { ...said, declared, inherits: false, parent_version: null },
        author,
      )
      const row: TemplateRow = {
        ...owner,
        slug,
        visibility,
        type: kind,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        tags,
        status,
        labels: withLabels({}, Object.fromEntries(labels.map((one) => [one, 1]))),
        current_version: 1,
        author,
        created_at: now,
        updated_at: now,
      }
      return detailOf(await changes.create(row, version, by))
    },
  })

  route({
    method: 'get',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'A template with its newest version',
    params: bySlug,
    query: ownerQuery,
    returns: templateDetail,
    throws: [403, 404],
    handle: ({ params: { slug }, query, principal }) =>
      detailOf(shelf.known.find(slug, principal!, query.user_id)),
  })

  route({
    method: 'put',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'Change what a template is called, who sees it, and the labels of its versions',
    params: bySlug,
    query: ownerQuery,
    body: templateChange,
    returns: templateDetail,
    throws: [403, 404, 409],
    async handle({ params: { slug }, query, body, ...by }) {
      const { principal } = by
      const row = shelf.known.findOwn(slug, principal!, query.user_id)
      if (body.visibility !== undefined) checkVisibility(body.visibility, row, 'templates')
      return detailOf(await changes.change(row, (now) => changed(now, body), by))
    },
  })

  route({
    method: 'delete',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'Delete a template with its versions',
    params: bySlug,
    query: ownerQuery,
    returns: z.object({ deleted: z.literal(true), id: z.string(), versions: z.int() }),
    throws: [403, 404, 409],
    async handle({ params: { slug }, query, ...by }) {
      const row = shelf.known.findOwn(slug, by.principal!, query.user_id)
      const versions = await changes.delete(row, by)
      return { deleted: true as const, id: row.id, versions }
    },
  })
}
