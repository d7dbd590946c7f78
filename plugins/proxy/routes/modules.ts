import { z } from 'zod'
import { badRequest, type Context, kernelServices, settingChange } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { detailOf, itemsOf, moduleDetail, moduleItem, modulesOf } from './module-item.ts'

/** Path parameter of every route about one module. */
export const moduleParams = z.strictObject({ name: z.string() })

const filter = listQuery.extend({
  category: z.string().optional().meta({ description: 'Only modules of this stage.' }),
  enabled: z.enum(['true', 'false']).optional().meta({ description: 'Only modules that are on, or off.' }),
  /** All modules fit on one page. */
  limit: listQuery.shape.limit.default(200),
})

/** For every route that changes modules: without it, a change that would lock out its caller is refused. */
export const forceField = z
  .boolean()
  .optional()
  .meta({ description: 'Make the change even if it locks out the address or key of this request.' })

/** For every route that changes the configuration. */
export const ifGenerationField = z
  .int()
  .min(0)
  .optional()
  .meta({ description: 'Make the change only if the configuration is at this generation; else 409.' })

/** The same for routes without a body. */
export const ifGenerationQuery = z.strictObject({
  if_generation: z.coerce.number().pipe(z.int().min(0)).optional().meta(ifGenerationField.meta()!),
})

const moduleChange = settingChange
  .extend({ force: forceField, if_generation: ifGenerationField })
  .meta({ minProperties: 1 })

/** Throws a bad request for a change that changes nothing. */
export function refuseNothing(change: object): void {
  if (Object.keys(change).length > 0) return
  throw badRequest('The body contains no change: send enabled, config, when, order or mode.', {
    param: 'body',
  })
}

/** The list of modules, and one module: to read, toggle and configure. */
export function addModuleRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/proxy/modules',
    access: 'any',
    summary: 'List the modules in chain order; their settings are for admins',
    query: filter,
    returns: listOf('modules', moduleItem).extend({
      enabled: z.int().meta({ description: 'Number of modules that are on.' }),
    }),
    handle({ query, principal }) {
      const registry = use(kernelServices.registry)
      const all = modulesOf(registry).map(itemsOf(registry, principal?.type === 'admin'))
      const matching = all.filter(
        (item) =>
          (query.category === undefined || item.category === query.category) &&
          (query.enabled === undefined || String(item.enabled) === query.enabled),
      )
      return {
        ...listed(
          'modules',
          pageOf(matching, query, ({ name }) => name),
          query,
        ),
        enabled: matching.filter(({ enabled }) => enabled).length,
      }
    },
  })

  route({
    method: 'get',
    path: '/api/proxy/modules/{name}',
    access: 'any',
    summary: "One module's state; its settings and their schema are for admins",
    params: moduleParams,
    returns: moduleDetail,
    handle({ params, principal }) {
      const registry = use(kernelServices.registry)
      return detailOf(registry, registry.get(params.name, 'module'), principal?.type === 'admin')
    },
  })

  route({
    method: 'put',
    path: '/api/proxy/modules/{name}',
    access: 'admin',
    summary: 'Toggle or configure a module; the change applies from the next call',
    params: moduleParams,
    body: moduleChange,
    returns: moduleDetail,
    throws: [409],
    async handle({ params, body: { force, if_generation: ifGeneration, ...change }, ...by }) {
      const registry = use(kernelServices.registry)
      const { id } = registry.get(params.name, 'module')
      refuseNothing(change)
      return detailOf(registry, await registry.change(id, change, { ...by, force, ifGeneration }), true)
    },
  })
}
