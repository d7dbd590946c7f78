import { z } from 'zod'
import { type Context, notFound, type Provider } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { Circuits, ProviderDirectory, ProviderProber } from '#provider'
import type { Watch } from '../watch.ts'
import { addProviderChangeRoutes } from './provider-changes.ts'

export const providerItem = z.object({
  name: z.string(),
  kind: z.string().meta({ description: 'Its protocol.' }),
  status: z.enum(['healthy', 'degraded', 'down', 'unconfigured', 'unknown']).meta({
    description: 'Health by recent calls and the last check; unknown before the first of either.',
  }),
  models_count: z.int().meta({ description: 'Models that are known by name.' }),
  latency_ms: z.number().nullable().meta({ description: 'Median latency of the last five minutes.' }),
  error_rate: z
    .number()
    .nullable()
    .meta({ description: 'Share of failed attempts in the last five minutes.' }),
  circuit: z.enum(['closed', 'open', 'half_open']),
  last_checked: z.string().nullable(),
  base_url: z.string().optional().meta({ description: 'Only for admins.' }),
  key_source: z
    .enum(['api', 'config', 'environment', 'none'])
    .optional()
    .meta({ description: 'Only for admins.' }),
})

/** Providers, how they are, and real checks of them. */
export function addProviderRoutes(context: Context<unknown>, watch: Watch): void {
  const { route, use, find } = context

  const itemOf = (provider: Provider, isAdmin: boolean): z.infer<typeof providerItem> => {
    const { status, errorRate, latencyMs } = watch.health(provider.name)
    const probe = use(ProviderProber).last(provider.name)
    return {
      name: provider.name,
      kind: provider.protocol,
      status: provider.unreadable ? 'down' : provider.configured ? status : 'unconfigured',
      models_count: use(ProviderDirectory).namesOf(provider.name).length,
      latency_ms: latencyMs,
      error_rate: errorRate,
      circuit: find(Circuits)?.state(provider.name) ?? 'closed',
      last_checked: probe?.checkedAt ?? null,
      ...(isAdmin && { base_url: provider.baseUrl, key_source: provider.keySource }),
    }
  }

  const get = (name: string): Provider => {
    const provider = use(ProviderDirectory).find(name)
    if (!provider) throw notFound(`There is no provider called ${name}.`, { param: 'name' })
    return provider
  }

  addProviderChangeRoutes(context, providerItem, (provider) => itemOf(provider, true))

  route({
    method: 'get',
    path: '/api/proxy/providers',
    access: 'any',
    summary: 'The providers and their health',
    query: listQuery,
    returns: listOf('providers', providerItem),
    handle({ query, principal }) {
      const { providers } = use(ProviderDirectory)
      const sorted = providers.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const page = pageOf(sorted, query, ({ name }) => name)
      const items = page.items.map((provider) => itemOf(provider, principal?.type === 'admin'))
      return listed('providers', { ...page, items }, query)
    },
  })

  route({
    method: 'get',
    path: '/api/proxy/providers/{name}',
    access: 'any',
    summary: 'One provider and its health',
    params: z.strictObject({ name: z.string() }),
    returns: providerItem,
    handle: ({ params, principal }) => itemOf(get(params.name), principal?.type === 'admin'),
  })

  route({
    method: 'post',
    path: '/api/proxy/providers/{name}/check',
    access: 'admin',
    reads: true,
    summary: 'Check a provider with a cheap real request',
    params: z.strictObject({ name: z.string() }),
    returns: providerItem.extend({ message: z.string().meta({ description: 'Result of the check.' }) }),
    async handle({ params }) {
      const provider = get(params.name)
      const probe = await use(ProviderProber).check(provider)
      watch.update(provider.name)
      return {
        ...itemOf(provider, true),
        status: probe.status,
        latency_ms: probe.latencyMs ?? null,
        message: probe.message,
      }
    },
  })
}
