import { z } from 'zod'
import {
  bindingName,
  type Context,
  hooksOf,
  kernelServices,
  type Plugin,
  type Registry,
  settingChange,
} from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { event, eventName } from './module-insight.ts'
import { modulePlaces, statsOf, statsShape } from './module-item.ts'
import { forceField, ifGenerationField, ifGenerationQuery, moduleParams, refuseNothing } from './modules.ts'

const bindingItem = z.object({
  name: z.string(),
  module: z.string(),
  enabled: z.boolean().meta({ description: 'The binding runs while this and its module are on.' }),
  state: z.enum(['active', 'tripped', 'disabled', 'waiting', 'failed', 'invalid']),
  mode: z.enum(['enforce', 'shadow']),
  config: z.record(z.string(), z.unknown()),
  when: z.unknown().meta({ description: 'The calls that it applies to; null for all.' }),
  order: z.int().meta({ description: "Order within the stage; by default its module's." }),
  priority: z.int().meta({ description: 'Position among all modules; smaller is further out.' }),
  in_chain: z.boolean(),
  problem: z.string().nullable(),
  stats: statsShape,
  updated_at: z.string().nullable(),
})

type BindingItem = z.infer<typeof bindingItem>

const bindingParams = z.strictObject({ name: z.string(), binding: z.string() })
const bindingChange = settingChange.extend({ force: forceField, if_generation: ifGenerationField })

/** Further configurations of a module, each for calls of its own. */
export function addBindingRoutes({ route, use }: Context<unknown>): void {
  const path = '/api/proxy/modules/{name}/bindings'

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'The bindings of a module: further configurations of it',
    params: moduleParams,
    query: listQuery,
    returns: listOf('bindings', bindingItem),
    handle({ params, query }) {
      const registry = use(kernelServices.registry)
      const all = registry
        .bindings(registry.get(params.name, 'module').id)
        .map((one) => itemOf(registry, one))
      const page = pageOf(all, query, ({ name }) => name)
      return listed('bindings', page, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'admin',
    summary: 'Add a binding to a module; it applies from the next call',
    params: moduleParams,
    body: bindingChange.extend({ name: bindingName }),
    status: 201,
    returns: bindingItem,
    throws: [409],
    async handle({ params, body: { name, force, if_generation: ifGeneration, ...change }, ...by }) {
      const registry = use(kernelServices.registry)
      return itemOf(registry, await registry.bind(params.name, name, change, { ...by, force, ifGeneration }))
    },
  })

  route({
    method: 'get',
    path: `${path}/{binding}`,
    access: 'admin',
    summary: 'One binding of a module',
    params: bindingParams,
    returns: bindingItem,
    handle({ params }) {
      const registry = use(kernelServices.registry)
      return itemOf(registry, registry.binding(params.name, params.binding))
    },
  })

  route({
    method: 'put',
    path: `${path}/{binding}`,
    access: 'admin',
    summary: 'Toggle or configure a binding; the change applies from the next call',
    params: bindingParams,
    body: bindingChange.meta({ minProperties: 1 }),
    returns: bindingItem,
    throws: [409],
    async handle({ params, body: { force, if_generation: ifGeneration, ...change }, ...by }) {
      refuseNothing(change)
      const registry = use(kernelServices.registry)
      const { id } = registry.binding(params.name, params.binding)
      return itemOf(registry, await registry.change(id, change, { ...by, force, ifGeneration }))
    },
  })

  route({
    method: 'get',
    path: `${path}/{binding}/events`,
    access: 'admin',
    summary: 'The last 200 events of a binding, newest first',
    params: bindingParams,
    query: listQuery,
    returns: listOf('events', event),
    async handle({ params, query }) {
      const binding = use(kernelServices.registry).binding(params.name, params.binding)
      const { events } = await use(kernelServices.threads).meterOf(binding)
      return listed('events', pageOf(events, query, eventName), query)
    },
  })

  route({
    method: 'delete',
    path: `${path}/{binding}`,
    access: 'admin',
    summary: 'Remove a binding of a module',
    params: bindingParams,
    query: ifGenerationQuery,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    async handle({ params, query: { if_generation: ifGeneration }, ...by }) {
      await use(kernelServices.registry).unbind(params.name, params.binding, { ...by, ifGeneration })
      return { deleted: true as const, id: `${params.name}/${params.binding}` }
    },
  })
}

function itemOf(registry: Registry, plugin: Plugin): BindingItem {
  const { binding, setting, stored, problem, meter } = plugin
  const entry = registry.generation.entries.find(({ id }) => id === plugin.id)
  return {
    name: binding!.name,
    module: binding!.module,
    enabled: setting!.wanted,
    state: registry.stateOf(plugin),
    mode: setting!.mode,
    config: { ...setting!.config },
    when: setting!.when ?? null,
    order: setting!.order,
    priority: modulePlaces(registry).findIndex((place) => place.plugin === plugin) + 1,
    in_chain: entry !== undefined && hooksOf(entry.hooks).length > 0,
    problem: problem ?? null,
    stats: statsOf(meter),
    updated_at: stored?.updated_at ?? null,
  }
}
