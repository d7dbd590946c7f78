import { z } from 'zod'
import { type Context, conflict, notFound } from '#kernel'
import { fileAnswer, listed, listOf, listQuery, shown, storedPage } from '#kit'
import { itemOf, type PackRow, packInput, packItem } from './pack.ts'
import type { Packs } from './packs.ts'

const path = '/api/trust/evidence'
const params = z.strictObject({ id: z.string().min(1).max(100) })

/** To collect, list, download and delete packs of evidence, for admins. */
export function addEvidenceRoutes({ route }: Context<unknown>, packs: Packs): void {
  async function rowOf(id: string): Promise<PackRow> {
    const row = await packs.rows.get(id)
    if (!row) throw notFound(`There is no pack of evidence ${id}.`, { param: 'id' })
    return row
  }

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'The packs of evidence, newest first',
    query: listQuery,
    returns: listOf('packs', packItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) =>
        packs.rows.list({ ...window, index: 'created', reverse: true }),
      )
      return listed('packs', shown(page, itemOf), query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'admin',
    summary: 'Collect a pack of evidence; it is ready once its status says so',
    body: packInput,
    status: 202,
    returns: packItem,
    handle: async ({ body, principal }) => itemOf(await packs.add(body, principal!)),
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'A pack of evidence',
    params,
    returns: packItem,
    throws: [404],
    handle: async ({ params: { id } }) => itemOf(await rowOf(id)),
  })

  route({
    method: 'get',
    path: `${path}/{id}/download`,
    access: 'admin',
    summary: 'The file of a pack, which verifies without the gateway',
    params,
    returns: fileAnswer,
    throws: [404, 409],
    async handle({ params: { id } }) {
      const { status } = await rowOf(id)
      const file = await packs.files.get(id)
      if (!file)
        throw conflict(
          status === 'failed' ? 'The pack could not be collected.' : 'The pack is not collected yet.',
          { param: 'id' },
        )
      const { size, sha256 } = file
      const body = (from: number, to: number) => file.read(from, to + 1)
      return { body, size, type: 'application/jsonl', name: `${id}.jsonl`, etag: sha256 }
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'Delete a pack of evidence',
    params,
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Ends its collection first if it goes on.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404, 409],
    async handle({ params: { id }, query: { force } }) {
      if (!force && (await rowOf(id)).status === 'collecting')
        throw conflict('The pack is being collected. Cancel its job under /api/jobs, or say force=true.', {
          param: 'force',
        })
      if (!(await packs.delete(id))) throw notFound(`There is no pack of evidence ${id}.`, { param: 'id' })
      return { deleted: true as const, id }
    },
  })
}
