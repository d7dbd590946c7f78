import { z } from 'zod'
import { forbidden, type OnceContext, type Principal } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Library } from '../library/library.ts'
import { type CollectionRow, shares } from '../library/rows.ts'

export const path = '/api/modules/contextpack/collections'
export const idParam = z.string().min(1).max(100)

const name = z.string().min(1).max(100).meta({ description: 'The setting `collection` names it so.' })
const description = z.string().max(1000)
const share = z.enum(shares).meta({
  description: 'Whose calls may use it beside those of its owner. Only admins may share with everyone.',
})

const item = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  share,
  user_id: z.string().nullable().meta({ description: 'Null for a collection of an admin.' }),
  documents: z.int(),
  characters: z.int(),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})

const itemOf = ({ tenant: _, ...row }: CollectionRow): z.infer<typeof item> => ({
  ...row,
  description: row.description ?? null,
  user_id: row.user_id ?? null,
})

/** Collections of documents: users manage their own and see those that are shared with them, admins all. */
export function collectionRoutes({ route }: Pick<OnceContext, 'route'>, library: Library): void {
  const params = z.strictObject({ id: idParam })

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The collections of documents that the caller may see, newest first',
    query: listQuery,
    returns: listOf('collections', item),
    handle({ query, principal }) {
      const { items, ...page } = pageOf(library.seenBy(principal!), query, ({ id }) => id)
      return listed('collections', { ...page, items: items.map(itemOf) }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make a collection of documents',
    body: z.strictObject({ name, description: description.optional(), share: share.default('owner') }),
    status: 201,
    returns: item,
    throws: [403, 409],
    async handle({ body: { description, ...fields }, principal }) {
      checkShare(fields.share, principal!)
      return itemOf(
        await library.create({ ...fields, ...(description !== undefined && { description }) }, principal!),
      )
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A collection of documents',
    params,
    returns: item,
    handle: ({ params: { id }, principal }) => itemOf(library.find(id, principal!)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change the name, the description or the sharing of a collection',
    params,
    body: z.strictObject({ name, description: description.nullable(), share }).partial(),
    returns: item,
    throws: [403, 409],
    async handle({ params: { id }, body: { description, ...fields }, principal }) {
      const row = library.findOwn(id, principal!)
      if (fields.share !== undefined) checkShare(fields.share, principal!)
      const said = description === undefined ? {} : { description: description ?? undefined }
      return itemOf(await library.change(row, { ...fields, ...said } as Partial<CollectionRow>))
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Delete a collection with its documents',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string(), documents: z.int() }),
    async handle({ params: { id }, principal }) {
      const documents = await library.delete(library.findOwn(id, principal!))
      return { deleted: true as const, id, documents }
    },
  })
}

function checkShare(share: CollectionRow['share'], { type }: Principal): void {
  if (share === 'everyone' && type !== 'admin') {
    throw forbidden('Only an admin can share a collection with everyone; choose owner or tenant.', {
      param: 'share',
    })
  }
}
