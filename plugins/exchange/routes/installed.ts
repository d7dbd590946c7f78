import { z } from 'zod'
import { Configuration, type Context } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import type { Environments } from '../environments.ts'
import type { Installs } from '../installs.ts'
import { isUntouched } from '../merge.ts'
import { latestOf, type Packs } from '../packs.ts'

const time = z.string().meta({ format: 'date-time' })

const installedItem = z.object({
  id: z.string(),
  slug: z.string(),
  version: z.string(),
  latest_version: z.string().nullable(),
  update_available: z.boolean(),
  drift: z.boolean().meta({ description: 'Whether a key was changed since the pack set it.' }),
  objects: z.array(
    z.object({
      type: z.string().meta({ description: 'The section.' }),
      id: z.string().meta({ description: 'The key in it.' }),
      modified_since_install: z.boolean(),
    }),
  ),
  installed_at: time,
  updated_at: time,
})

/** The packs that are installed, and how the area is. */
export function addInstalledRoutes(
  { route, use }: Context<unknown>,
  packs: Packs,
  installs: Installs,
  environments: Environments,
): void {
  route({
    method: 'get',
    path: '/api/exchange/installed',
    access: 'admin',
    summary: 'The packs that are installed, and which of their keys were changed since',
    query: listQuery,
    returns: listOf('installed', installedItem),
    async handle({ query }) {
      const { sections } = await use(Configuration).read()
      const { items, ...page } = await storedPage(query, (window) => installs.rows.list(window))
      const shown = items.map(async ({ objects, ...row }) => {
        const pack = await packs.rows.get(row.slug)
        const latest = pack ? latestOf(pack) : null
        const told = objects.map((object) => ({
          type: object.section,
          id: object.key,
          modified_since_install: !isUntouched(object, sections),
        }))
        return {
          ...row,
          latest_version: latest,
          update_available: latest !== null && latest !== row.version,
          drift: told.some((object) => object.modified_since_install),
          objects: told,
        }
      })
      return listed('installed', { ...page, items: await Promise.all(shown) }, query)
    },
  })

  route({
    method: 'delete',
    path: '/api/exchange/installed/{id}',
    access: 'admin',
    summary: 'Take a pack away: what was there before comes back, except for keys that were changed since',
    params: z.strictObject({ id: z.string().max(100) }),
    returns: z.object({
      deleted: z.literal(true),
      id: z.string(),
      restored: z.array(z.string()).meta({ description: 'Keys that are as before the install.' }),
      left: z.array(z.string()).meta({ description: 'Keys that were changed since, and stay as they are.' }),
      generation: z.int(),
    }),
    throws: [404, 409],
    async handle({ params: { id }, ...by }) {
      return { deleted: true as const, id, ...(await installs.uninstall(id, by)) }
    },
  })

  route({
    method: 'get',
    path: '/api/exchange/status',
    access: 'admin',
    summary: 'How many packs and environments there are, and how many packs are installed',
    returns: z.object({
      status: z.literal('ready'),
      packs: z.int(),
      versions: z.int(),
      installed: z.int(),
      drifted: z.int().meta({ description: 'Installed packs of which a key was changed since.' }),
      environments: z.int(),
      last_synced_at: time.nullable(),
    }),
    async handle() {
      const { sections } = await use(Configuration).read()
      const [latest] = (await environments.syncs.list({ reverse: true, limit: 1 })).items
      let drifted = 0
      for await (const [, { objects }] of installs.rows.scan())
        if (objects.some((object) => !isUntouched(object, sections))) drifted += 1
      return {
        status: 'ready' as const,
        packs: await packs.rows.count(),
        versions: await packs.versions.count(),
        installed: await installs.rows.count(),
        drifted,
        environments: await environments.rows.count(),
        last_synced_at: latest?.synced_at ?? null,
      }
    },
  })
}
