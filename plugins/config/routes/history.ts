import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { entriesOf, entryAt } from '../history.ts'
import { generationItem, generationItemOf } from '../shapes.ts'

/** Adds the routes for changes made at runtime, with the actor and the value before each. */
export function addHistoryRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/config/history',
    access: 'admin',
    summary: 'List the generations of the configuration with their changes, newest first',
    query: listQuery,
    returns: listOf('generations', generationItem),
    async handle({ query }) {
      const registry = use(kernelServices.registry)
      const page = await storedPage(query, (window) => entriesOf(registry.journal, window))
      return listed(
        'generations',
        shown(page, (entry) => generationItemOf(entry, registry.generation.sections)),
        query,
      )
    },
  })

  route({
    method: 'get',
    path: '/api/config/history/{generation}',
    access: 'admin',
    summary: 'Show one generation of the configuration with its changes',
    params: z.strictObject({ generation: z.coerce.number().int().min(1) }),
    returns: generationItem,
    throws: [404],
    async handle({ params }) {
      const { generation, journal } = use(kernelServices.registry)
      return generationItemOf(await entryAt(journal, params.generation), generation.sections)
    },
  })
}
