import { z } from 'zod'
import { badRequest, type Context, kernelServices, notFound, type Plugin, settingChange } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { ProviderEntries, RouteRules } from '#provider'
import { detailOf, itemOf, pluginDetail, pluginItem, pluginParams } from '../shapes.ts'

const filter = listQuery.extend({
  source: pluginItem.shape.source.optional().meta({ description: 'Only plugins from this source.' }),
  kind: pluginItem.shape.kind.optional().meta({ description: 'Only plugins of this kind.' }),
  state: pluginItem.shape.state.optional().meta({ description: 'Only plugins in this state.' }),
  /** All plugins fit on one page. */
  limit: listQuery.shape.limit.default(500),
})

const pluginChange = settingChange
  .extend({
    force: z
      .boolean()
      .optional()
      .meta({ description: 'Make the change even if it locks out the address or key of this request.' }),
    if_generation: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Make the change only if the configuration is at this generation; else 409.' }),
  })
  .meta({ minProperties: 1 })

/** The list of plugins, and one plugin: to read, toggle and configure. */
export function addPluginRoutes({ route, use, find }: Context<unknown>): void {
  /** A route to a provider that is switched off would turn every call it matches away. */
  const demandUnrouted = ({ id, manifest, setting }: Plugin): void => {
    if (manifest?.kind !== 'provider' || !setting?.enabled || find(ProviderEntries)?.needsNoPlugin(id)) return
    find(RouteRules)?.demandNoneTo(id)
  }

  route({
    method: 'get',
    path: '/api/plugins',
    access: 'admin',
    summary: 'List all plugins, built in and from outside',
    query: filter,
    returns: listOf('plugins', pluginItem),
    handle({ query }) {
      const registry = use(kernelServices.registry)
      const matching = registry.plugins
        .map((plugin) => itemOf(registry, plugin))
        .filter(
          ({ source, kind, state }) =>
            (query.source ?? source) === source &&
            (query.kind ?? kind) === kind &&
            (query.state ?? state) === state,
        )
      const page = pageOf(matching, query, ({ name }) => name)
      return listed('plugins', page, query)
    },
  })

  route({
    method: 'get',
    path: '/api/plugins/{name}',
    access: 'admin',
    summary: 'One plugin: its state, settings, permissions and routes',
    params: pluginParams,
    returns: pluginDetail,
    handle({ params }) {
      const registry = use(kernelServices.registry)
      return detailOf(registry, registry.get(params.name))
    },
  })

  route({
    method: 'put',
    path: '/api/plugins/{name}',
    access: 'admin',
    summary: 'Toggle or configure a plugin; the change applies from the next request',
    params: pluginParams,
    body: pluginChange,
    returns: pluginDetail,
    throws: [409],
    async handle({ params, body: { force, if_generation: ifGeneration, ...change }, ...by }) {
      const registry = use(kernelServices.registry)
      const { id } = registry.get(params.name)
      if (Object.keys(change).length === 0) {
        throw badRequest('The body contains no change: send enabled, config, when or order.', {
          param: 'body',
        })
      }
      const demand = () => {
        if (change.enabled === false) demandUnrouted(registry.get(id))
      }
      return detailOf(registry, await registry.change(id, change, { ...by, force, ifGeneration }, demand))
    },
  })

  route({
    method: 'delete',
    path: '/api/plugins/{name}/settings',
    access: 'admin',
    summary: 'Delete the settings of a removed plugin; its stored data stays',
    params: pluginParams,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    async handle({ params: { name }, ...by }) {
      if (await use(kernelServices.registry).forget(name, by)) return { deleted: true as const, id: name }
      throw notFound(`There are no settings of a plugin called ${name}.`, { param: 'name' })
    },
  })
}
