import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { ProviderDirectory, RouteRules } from '#provider'
import type { Watch } from '../watch.ts'
import { modulePlaces } from './module-item.ts'

/** The proxy area at a glance. */
export function addStatusRoute({ route, use }: Context<unknown>, watch: Watch): void {
  route({
    method: 'get',
    path: '/api/proxy/status',
    access: 'any',
    summary: 'The state of the proxy: wires, modules, providers, attempts',
    returns: z.object({
      status: z.enum(['healthy', 'degraded', 'down']),
      generation: z.int(),
      uptime_seconds: z.int(),
      wires: z.array(z.string()).meta({ description: 'Paths for model calls.' }),
      modules: z.object({ total: z.int(), enabled: z.int(), active: z.int(), failed: z.int() }),
      providers: z.object({ total: z.int(), configured: z.int(), degraded: z.int(), down: z.int() }),
      routes: z.int().meta({ description: 'Configured routing rules.' }),
      upstream_attempts: z.object({ total: z.int(), failed: z.int() }),
    }),
    handle() {
      const registry = use(kernelServices.registry)
      const modules = modulePlaces(registry)
        .filter(({ plugin }) => !plugin.binding)
        .map(({ plugin }) => ({ plugin, state: registry.stateOf(plugin) }))
      const failed = modules.filter(({ plugin, state }) => plugin.setting?.enabled && state !== 'active')
      const { providers } = use(ProviderDirectory)
      const configured = providers.filter((provider) => provider.configured)
      const statuses = configured.map(({ name, unreadable }) =>
        unreadable ? 'down' : watch.health(name).status,
      )
      const down = statuses.filter((status) => status === 'down').length
      const degraded = statuses.filter((status) => status === 'degraded').length
      return {
        status:
          down > 0 && down === configured.length
            ? 'down'
            : down + degraded + failed.length > 0
              ? 'degraded'
              : 'healthy',
        generation: registry.generation.number,
        uptime_seconds: Math.floor(process.uptime()),
        wires: registry.generation.wires.paths,
        modules: {
          total: modules.length,
          enabled: modules.filter(({ plugin }) => plugin.setting?.enabled).length,
          active: modules.filter(({ state }) => state === 'active').length,
          failed: failed.length,
        },
        providers: { total: providers.length, configured: configured.length, degraded, down },
        routes: use(RouteRules).rules.length,
        upstream_attempts: { ...watch.tries },
      }
    },
  })
}
