import { z } from 'zod'
import { type Actor, Configuration, type Context, isGatewayError } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { filled, refuseSecrets } from '../content.ts'
import {
  type EnvironmentRow,
  environmentFields,
  environmentName,
  environmentRow,
  kinds,
} from '../environment.ts'
import type { Environments } from '../environments.ts'

const { description, url, auth_ref, config } = environmentFields
const environmentItem = environmentRow.omit({ known_hashes: true }).extend({
  drift: z.object({ count: z.int() }).nullable().meta({
    description:
      'How many keys a push would change. Null of a remote one, which only a dry run asks, and of one that cannot be pushed.',
  }),
})

const path = '/api/exchange/environments/{name}'
export const params = z.strictObject({ name: z.string().max(64) })

/** The environments. */
export function addEnvironmentRoutes({ route, use }: Context<unknown>, environments: Environments): void {
  const itemOf = async (
    { known_hashes: _, ...row }: EnvironmentRow,
    by: Actor,
  ): Promise<z.infer<typeof environmentItem>> => ({ ...row, drift: await driftOf(row, by) })

  /** Tries a push of a local environment. Keys of providers are left out: whether they are others cannot be told. */
  async function driftOf({ kind, config }: Pick<EnvironmentRow, 'kind' | 'config'>, by: Actor) {
    if (kind === 'remote') return null
    let count = 0
    const decide = (changes: readonly unknown[]) => {
      count = changes.length
      return { changes: [] }
    }
    try {
      const options = { actor: { ...by, force: true }, isTrial: true, decide }
      await use(Configuration).apply(async () => filled(config, {}, {}), options)
      return { count }
    } catch (error) {
      if (!isGatewayError(error) || error.status >= 500) throw error
      return null
    }
  }

  route({
    method: 'get',
    path: '/api/exchange/environments',
    access: 'admin',
    summary: 'The environments: named settings of this gateway, and other gateways',
    query: listQuery,
    returns: listOf('environments', environmentItem),
    async handle({ query, ...by }) {
      const page = await storedPage(query, (window) => environments.rows.list(window))
      const items = await Promise.all(page.items.map((row) => itemOf(row, by)))
      return listed('environments', { ...page, items }, query)
    },
  })

  route({
    method: 'post',
    path: '/api/exchange/environments',
    access: 'admin',
    summary: 'Add an environment',
    body: z.strictObject({
      name: environmentName,
      kind: z.enum(kinds),
      description: description.default(''),
      url: url.nullable().default(null),
      auth_ref: auth_ref.nullable().default(null),
      config: config.default({}),
    }),
    status: 201,
    returns: environmentItem,
    throws: [409],
    async handle({ body, ...by }) {
      refuseSecrets(body.config)
      return itemOf(await environments.create(body), by)
    },
  })

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'An environment',
    params,
    returns: environmentItem,
    throws: [404],
    handle: async ({ params: { name }, ...by }) => itemOf(await environments.find(name), by),
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Change an environment; what is absent stays, null clears',
    params,
    body: z.strictObject({
      description: description.nullable().optional(),
      url: url.optional(),
      auth_ref: auth_ref.optional(),
      config: config.nullable().optional(),
    }),
    returns: environmentItem,
    throws: [404],
    async handle({ params: { name }, body, ...by }) {
      if (body.config) refuseSecrets(body.config)
      return itemOf(
        await environments.change(name, (row) => ({
          description: body.description === undefined ? row.description : (body.description ?? ''),
          config: body.config === undefined ? row.config : (body.config ?? {}),
          auth_ref: body.auth_ref ?? row.auth_ref,
          // Another gateway is one whose hash is not known.
          ...(body.url !== undefined && body.url !== row.url && { url: body.url, known_hashes: [] }),
        })),
        by,
      )
    },
  })

  route({
    method: 'delete',
    path,
    access: 'admin',
    summary: 'Delete an environment; its syncs stay in the log',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ params: { name } }) {
      await environments.find(name)
      await environments.rows.delete(name)
      return { deleted: true as const, id: name }
    },
  })
}
