import { z } from 'zod'
import { type Context, conflict, kernelServices, type Plugin } from '#kernel'
import { jsonSchemaOf, listed, listOf, listQuery, pageOf } from '#kit'
import { moduleParams } from './modules.ts'

const stats = z.object({
  name: z.string(),
  calls: z.int().meta({ description: 'Runs of its hooks.' }),
  errors: z.int().meta({ description: 'Failures of the module itself.' }),
  refusals: z.int().meta({ description: 'Calls that it refused.' }),
  p50_us: z.number(),
  p99_us: z.number(),
  hooks: z.array(z.object({ hook: z.string(), calls: z.int(), total_ms: z.number(), mean_us: z.number() })),
})

/** One thing that a module reported. */
export const event = z.object({ at: z.string(), kind: z.string(), detail: z.string() })

/** What tells events apart. */
export const eventName = ({ at, kind, detail }: z.infer<typeof event>): string => `${at} ${kind} ${detail}`

/** Adds the routes for a module's settings and its state. */
export function addInsightRoutes({ route, use }: Context<unknown>): void {
  const find = (name: string) => use(kernelServices.registry).get(name, 'module')

  route({
    method: 'get',
    path: '/api/proxy/modules/{name}/schema',
    access: 'any',
    summary: "JSON Schema of a module's settings",
    params: moduleParams,
    returns: z.record(z.string(), z.unknown()),
    throws: [409],
    async handle({ params }) {
      const plugin = find(params.name)
      const schema = await use(kernelServices.registry).schema(plugin)
      if (!schema) throw conflict(`${plugin.id} cannot be loaded: ${plugin.problem}`)
      const projected = jsonSchemaOf(schema)
      if (!projected) throw conflict(`The settings of ${plugin.id} cannot be expressed as a JSON Schema.`)
      return projected
    },
  })

  route({
    method: 'get',
    path: '/api/proxy/modules/{name}/stats',
    access: 'admin',
    summary: 'Runs, failures, refusals and time of a module, since the start or the last reset',
    params: moduleParams,
    returns: stats,
    handle: async ({ params }) =>
      statsOf(params.name, await use(kernelServices.threads).meterOf(find(params.name))),
  })

  route({
    method: 'get',
    path: '/api/proxy/modules/{name}/events',
    access: 'admin',
    summary: 'The last 200 events of a module, newest first',
    params: moduleParams,
    query: listQuery,
    returns: listOf('events', event),
    async handle({ params, query }) {
      const { events } = await use(kernelServices.threads).meterOf(find(params.name))
      return listed('events', pageOf(events, query, eventName), query)
    },
  })

  route({
    method: 'post',
    path: '/api/proxy/modules/{name}/reset',
    access: 'admin',
    summary: "Reset a module's statistics and events",
    params: moduleParams,
    returns: stats,
    async handle({ params }) {
      const plugin = find(params.name)
      await use(kernelServices.threads).resetMeter(plugin)
      return statsOf(params.name, plugin.meter)
    },
  })
}

function statsOf(name: string, meter: Plugin['meter']): z.infer<typeof stats> {
  return {
    name,
    calls: meter.calls,
    errors: meter.errors,
    refusals: meter.refusals,
    p50_us: meter.quantileUs(0.5),
    p99_us: meter.quantileUs(0.99),
    hooks: [...meter.hooks].map(([hook, { calls, totalMs }]) => ({
      hook,
      calls,
      total_ms: totalMs,
      mean_us: calls === 0 ? 0 : (totalMs * 1000) / calls,
    })),
  }
}
