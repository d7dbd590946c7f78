import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { refuseSecrets } from '../content.ts'
import {
  type EnvironmentRow,
  environmentFields,
  environmentName,
  environmentRow,
  kinds,
} from '../environment.ts'
import type { Environments } from '../environments.ts'

const { description, url, auth_ref, config } = environmentFields
const environmentItem = environmentRow.omit({ known_hashes: true })
const itemOf = ({ known_hashes: _, ...row }: EnvironmentRow): z.infer<typeof environmentItem> => row

const path = '/api/exchange/environments/{name}'
export const params = z.strictObject({ name: z.string().max(64) })

/** The environments. */
export function addEnvironmentRoutes({ route }: Context<unknown>, environments: Environments): void {
  route({
    method: 'get',
    path: '/api/exchange/environments',
    access: 'admin',
    summary: 'The environments: named settings of this gateway, and other gateways',
    query: listQuery,
    returns: listOf('environments', environmentItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) => environments.rows.list(window))
      return listed('environments', shown(page, itemOf), query)
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
    async handle({ body }) {
      refuseSecrets(body.config)
      return itemOf(await environments.create(body))
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
    handle: async ({ params: { name } }) => itemOf(await environments.find(name)),
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
    async handle({ params: { name }, body }) {
      if (body.config) refuseSecrets(body.config)
      return itemOf(
        await environments.change(name, (row) => ({
          description: body.description === undefined ? row.description : (body.description ?? ''),
          config: body.config === undefined ? row.config : (body.config ?? {}),
          auth_ref: body.auth_ref ?? row.auth_ref,
          // Another gateway is one whose hash is not known.
          ...(body.url !== undefined && body.url !== row.url && { url: body.url, known_hashes: [] }),
        })),
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
