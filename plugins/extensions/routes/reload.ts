import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { detailOf, pluginDetail, pluginParams } from '../shapes.ts'

const rescanned = z.object({
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  failed: z
    .array(z.object({ name: z.string(), problem: z.string() }))
    .meta({ description: 'New or changed plugins that were refused; earlier versions still run.' }),
  unchanged: z.int(),
})

const reloaded = pluginDetail.extend({
  reloaded: z.boolean().meta({ description: 'Whether the code has changed.' }),
})

/** Taking in what changed on disk. */
export function addReloadRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'post',
    path: '/api/plugins/rescan',
    access: 'admin',
    summary: 'Read the plugin folders again: load new and changed plugins, stop removed ones',
    returns: rescanned,
    throws: [409],
    handle: () => use(kernelServices.reloader).rescan(),
  })

  route({
    method: 'post',
    path: '/api/plugins/{name}/reload',
    access: 'admin',
    summary: "Load the current code of a plugin's folder; running calls end with the version they began with",
    params: pluginParams,
    returns: reloaded,
    throws: [409],
    async handle({ params }) {
      const registry = use(kernelServices.registry)
      const result = await use(kernelServices.reloader).reload(params.name)
      return { ...(await detailOf(registry, result.plugin)), reloaded: result.reloaded }
    },
  })
}
