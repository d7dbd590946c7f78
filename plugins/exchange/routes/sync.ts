import { z } from 'zod'
import { Configuration, type Context } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { directions, syncRow } from '../environment.ts'
import type { Environments } from '../environments.ts'
import type { Packs } from '../packs.ts'
import { sourceFields, sourceOf } from '../source.ts'
import { sync } from '../sync.ts'
import { warningsOf } from '../warnings.ts'
import { params } from './environments.ts'

const change = z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })

/** Bringing environments and this gateway together. */
export function addSyncRoutes(
  { route, use, fetch }: Context<unknown>,
  environments: Environments,
  packs: Packs,
): void {
  const parts = { use, fetch, environments, configuration: () => use(Configuration) }

  route({
    method: 'post',
    path: '/api/exchange/environments/{name}/sync',
    access: 'admin',
    summary: 'Push to an environment what is set here, or pull from it, as one generation or not at all',
    params,
    body: z.strictObject({
      direction: z.enum(directions).meta({
        description:
          'To a remote gateway push sends what is set here, and pull sets here what is set there. Of a local environment push sets what it has, and pull takes what is set here into it.',
      }),
      ...sourceFields,
      sections: z.array(z.string().max(100)).min(1).max(100).optional().meta({
        description: 'Only these sections.',
      }),
      dry_run: z.boolean().default(false),
      from_hash: z.string().max(100).optional().meta({
        description: 'Sync only if what is to be changed has this hash, as a dry run showed it; else 409.',
      }),
      overwrite: z.boolean().default(false).meta({
        description: 'Push even if somebody else has changed the remote gateway since the last push.',
      }),
      force: z.boolean().optional().meta({
        description: 'Sync even if it shuts out the address and key it comes from.',
      }),
    }),
    returns: syncRow
      .omit({ paths: true, problem: true })
      .extend({ changes: z.array(change), warnings: z.array(z.string()) }),
    throws: [404, 409, 502],
    async handle({ params: { name }, body, ...by }) {
      const { direction, sections, overwrite, force } = body
      const environment = await environments.find(name)
      const { kept, changes } = await sync(parts, environment, {
        source: await sourceOf(body, environment, direction, packs),
        actor: { ...by, force },
        direction,
        sections,
        isTrial: body.dry_run,
        fromHash: body.from_hash,
        overwrite,
      })
      const { paths: _, problem: _problem, ...told } = kept
      return {
        ...told,
        changes: changes.map(({ section, key, before, after }) => ({
          path: `${section}.${key}`,
          before,
          after,
        })),
        warnings: warningsOf(changes),
      }
    },
  })

  route({
    method: 'get',
    path: '/api/exchange/sync-log',
    access: 'admin',
    summary: 'The last thousand syncs, the newest first, with those that failed',
    query: listQuery,
    returns: listOf('syncs', syncRow),
    async handle({ query }) {
      const page = await storedPage(query, (window) => environments.syncs.list({ ...window, reverse: true }))
      return listed('syncs', page, query)
    },
  })
}
