import { z } from 'zod'
import { type Context, kernelServices, notFound } from '#kernel'
import { pluginParams } from '../shapes.ts'

const storedPart = z.object({
  kind: z.enum(['collection', 'log', 'sequence', 'counters']),
  path: z.string().meta({
    description:
      "The part's name, behind the plugin's name, or behind the plugin's name, _ and the binding's.",
  }),
  entries: z.int().meta({ description: 'Rows, entries or counters.' }),
})

/** Adds the routes to look at the data that plugins have stored, removed plugins included, and to erase it. */
export function addStoredRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/plugins/{name}/stored',
    access: 'admin',
    summary: 'List what a plugin has stored, also a removed one',
    params: pluginParams,
    returns: z.object({ stored: z.array(storedPart) }),
    handle: async ({ params: { name } }) => ({ stored: await use(kernelServices.pluginData).stored(name) }),
  })

  route({
    method: 'delete',
    path: '/api/plugins/{name}/stored',
    access: 'admin',
    summary: 'Erase the stored data of a removed plugin for good; traces stay',
    params: pluginParams,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    async handle({ params: { name } }) {
      const pluginData = use(kernelServices.pluginData)
      if (await use(kernelServices.registry).whileGone(name, () => pluginData.erase(name)))
        return { deleted: true as const, id: name }
      throw notFound(`Nothing is stored of a plugin called ${name}.`, { param: 'name' })
    },
  })
}
