import { z } from 'zod'
import {
  type Actor,
  badRequest,
  Configuration,
  type Context,
  conflict,
  isGatewayError,
  kernelServices,
} from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { judgeable, refuseSecrets } from '../content.ts'
import type { Installs } from '../installs.ts'
import { latestOf, type Packs } from '../packs.ts'
import {
  type PackRow,
  packFields,
  packRow,
  slug,
  type VersionRow,
  version,
  versionFields,
  versionRow,
} from '../shapes.ts'

const path = '/api/exchange/packs/{slug}'
export const params = z.strictObject({ slug: z.string().max(64) })

const packItem = packRow.extend({ version: version.meta({ description: 'The latest one.' }) })
const packDetail = packItem.extend(versionRow.omit({ slug: true, version: true }).shape)

const itemOf = (row: PackRow): z.infer<typeof packItem> => ({ ...row, version: latestOf(row) })
const detailOf = (row: PackRow, shownVersion: VersionRow): z.infer<typeof packDetail> => ({
  ...row,
  ...shownVersion,
})

const { pack_type, tags, readme, description, author, name } = packFields
const change = z.strictObject({
  name: name.optional(),
  description: description.unwrap().nullable().optional(),
  author: author.unwrap().nullable().optional(),
  pack_type: pack_type.unwrap().optional(),
  tags: tags.unwrap().nullable().optional(),
  readme: readme.unwrap().nullable().optional(),
})

/** Publishing packs and their versions. */
export function addPackRoutes({ route, use }: Context<unknown>, packs: Packs, installs: Installs): void {
  /** Throws a bad request for content that no install would take: a version never changes, so it could never be mended. */
  async function demandSound(given: Pick<VersionRow, 'content' | 'variables'>, by: Actor): Promise<void> {
    refuseSecrets(given.content)
    const registry = use(kernelServices.registry)
    const forms = judgeable(given, (id) => registry.find(id) !== undefined)
    const options = { actor: { ...by, force: true }, isTrial: true, decide: () => ({ changes: [] }) }
    await use(Configuration)
      .apply(async () => forms, options)
      .catch((error: unknown) => {
        if (!isGatewayError(error) || error.status >= 500) throw error
        throw badRequest(`body content › ${error.message}`, { param: `content.${error.param}`, cause: error })
      })
  }

  route({
    method: 'get',
    path: '/api/exchange/packs',
    access: 'admin',
    summary: 'The packs',
    query: listQuery,
    returns: listOf('packs', packItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) => packs.rows.list(window))
      return listed('packs', shown(page, itemOf), query)
    },
  })

  route({
    method: 'post',
    path: '/api/exchange/packs',
    access: 'admin',
    summary: 'Publish a pack with its first version, which never changes',
    body: z.strictObject({ slug, ...packFields, ...versionFields }),
    status: 201,
    returns: packDetail,
    throws: [409],
    async handle({ body: { slug: id, version, content, requires, variables, changelog, ...pack }, ...by }) {
      await demandSound({ content, variables }, by)
      const row = await packs.create(id, pack, { version, content, requires, variables, changelog })
      return detailOf(row, await packs.version(id, version))
    },
  })

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'A pack with the content of its latest version, or of another',
    params,
    query: z.strictObject({ version: version.optional() }),
    returns: packDetail,
    throws: [404],
    async handle({ params: { slug: id }, query }) {
      const row = await packs.find(id)
      return detailOf(row, await packs.version(id, query.version))
    },
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Change what a pack says of itself; versions stay. What is absent stays, null clears',
    params,
    body: change,
    returns: packItem,
    throws: [404],
    async handle({ params: { slug: id }, body: { tags: given, ...texts } }) {
      const said = Object.entries(texts).flatMap(([field, text]) =>
        text === undefined ? [] : [[field, text ?? ''] as const],
      )
      const next = { ...Object.fromEntries(said), ...(given !== undefined && { tags: given ?? [] }) }
      return itemOf(await packs.change(id, (row) => ({ ...row, ...next })))
    },
  })

  route({
    method: 'delete',
    path,
    access: 'admin',
    summary: 'Delete a pack with its versions; one that is installed is uninstalled first',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404, 409],
    async handle({ params: { slug: id } }) {
      await packs.find(id)
      const installed = await installs.of(id)
      if (installed)
        throw conflict(`${id} is installed as ${installed.id}: uninstall it first.`, { param: 'slug' })
      await packs.delete(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'post',
    path: `${path}/versions`,
    access: 'admin',
    summary: 'Publish a version of a pack, which never changes',
    params,
    body: z.strictObject(versionFields),
    status: 201,
    returns: versionRow,
    throws: [404, 409],
    async handle({ params: { slug: id }, body, ...by }) {
      await demandSound(body, by)
      return packs.publish(id, body)
    },
  })
}
