import { z } from 'zod'
import { notFound, type OnceContext } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { longestDocument } from '../library/documents.ts'
import type { Library } from '../library/library.ts'
import { type DocumentRow, formats } from '../library/rows.ts'
import { path as collections, idParam } from './collections.ts'

const path = `${collections}/{id}/documents`

const item = z.object({
  id: z.string(),
  collection_id: z.string(),
  title: z.string(),
  format: z.enum(formats),
  characters: z.int(),
  passages: z.int().meta({ description: 'The parts that are found and given by themselves.' }),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})

const input = z.strictObject({
  title: z.string().trim().min(1).max(200),
  format: z.enum(formats).default('text'),
  content: z.string().min(1).max(longestDocument),
})

const itemOf = (
  { collection, chunks, content: _, ...row }: DocumentRow,
  title: string,
): z.infer<typeof item> => ({
  ...row,
  title,
  collection_id: collection,
  passages: chunks,
})

/** The documents of a collection: who may see the collection reads them, and its owner and admins change them. */
export function documentRoutes({ route }: Pick<OnceContext, 'route'>, library: Library): void {
  const { documents } = library
  const params = z.strictObject({ id: idParam })
  const one = z.strictObject({ id: idParam, documentId: idParam })

  const contentOf = async (row: DocumentRow) => {
    const content = await documents.read(row)
    if (content) return content
    throw notFound(
      `The document ${row.id} cannot be read any more. Delete it, or put a new one in its place.`,
      {
        param: 'documentId',
      },
    )
  }

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The documents of a collection without their content, newest first',
    params,
    query: listQuery,
    returns: listOf('documents', item),
    async handle({ params: { id }, query, principal }) {
      const collection = library.find(id, principal!)
      const { items, ...page } = await storedPage(query, (window) => documents.list(collection, window))
      const all = await Promise.all(
        items.map(async (row) => itemOf(row, (await documents.read(row))?.title ?? '')),
      )
      return listed('documents', { ...page, items: all }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Add a document to a collection; the next call finds it',
    params,
    body: input,
    status: 201,
    returns: item,
    throws: [409, 413],
    async handle({ params: { id }, body: { content: text, ...fields }, principal }) {
      const row = await documents.put(library.findOwn(id, principal!), { ...fields, text })
      return itemOf(row, fields.title)
    },
  })

  route({
    method: 'get',
    path: `${path}/{documentId}`,
    access: 'any',
    summary: 'A document with its content',
    params: one,
    returns: item.extend({ content: z.string() }),
    async handle({ params: { id, documentId }, principal }) {
      const row = await documents.find(library.find(id, principal!), documentId)
      const { title, text } = await contentOf(row)
      return { ...itemOf(row, title), content: text }
    },
  })

  route({
    method: 'put',
    path: `${path}/{documentId}`,
    access: 'any',
    summary: 'Put another content in the place of a document',
    params: one,
    body: input,
    returns: item,
    throws: [409, 413],
    async handle({ params: { id, documentId }, body: { content: text, ...fields }, principal }) {
      const collection = library.findOwn(id, principal!)
      const earlier = await documents.find(collection, documentId)
      return itemOf(await documents.put(collection, { ...fields, text }, earlier), fields.title)
    },
  })

  route({
    method: 'delete',
    path: `${path}/{documentId}`,
    access: 'any',
    summary: 'Delete a document; no call finds it any more',
    params: one,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id, documentId }, principal }) {
      await documents.delete(await documents.find(library.findOwn(id, principal!), documentId))
      return { deleted: true as const, id: documentId }
    },
  })
}
