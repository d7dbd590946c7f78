import { z } from 'zod'
import { type Context, conflict, notFound, type Provider } from '#kernel'
import { ProviderDirectory, ProviderEntries, providerFields, providerName, RouteRules } from '#provider'
import { ProvidersChanged } from '../events.ts'
import { ifGenerationField, ifGenerationQuery } from './modules.ts'
import type { providerItem } from './providers.ts'

const fields = z.strictObject(providerFields).partial()
const { type, base_url, api_key, keys, org_id, region, models, headers, options } = fields.shape
const change = z
  .strictObject({
    type: type.nullable(),
    base_url: base_url.nullable(),
    api_key: api_key.nullable(),
    keys: keys.nullable(),
    org_id: org_id.nullable(),
    region: region.nullable(),
    models: models.nullable(),
    headers: headers.nullable(),
    options: options.nullable(),
    if_generation: ifGenerationField,
  })
  .meta({ minProperties: 1 })

type Item = z.infer<typeof providerItem>

/**
 * Adding, changing and removing providers. Only admins may, and so any address may be said: an operator's own providers often
 * are inside of the network.
 */
export function addProviderChangeRoutes(
  { route, use, event, emit }: Context<unknown>,
  returns: typeof providerItem,
  itemOf: (provider: Provider) => Item,
): void {
  event(ProvidersChanged)
  const find = (name: string) => use(ProviderDirectory).find(name)
  const item = (name: string): Item => itemOf(use(ProviderDirectory).get(name))
  const params = z.strictObject({ name: z.string() })

  route({
    method: 'post',
    path: '/api/proxy/providers',
    access: 'admin',
    summary: 'Add a provider, for the calls that come after; its keys are stored encrypted',
    body: fields.extend({ name: providerName, if_generation: ifGenerationField }),
    status: 201,
    returns,
    throws: [409],
    async handle({ body: { name, if_generation: ifGeneration, ...said }, ...by }) {
      await use(ProviderEntries).change(name, said, { ...by, ifGeneration }, () => {
        if (find(name) || use(ProviderEntries).has(name))
          throw conflict(`There is a provider called ${name} already; change it with PUT.`, { param: 'name' })
      })
      emit(ProvidersChanged, { name, change: 'added' }, { cause: by })
      return item(name)
    },
  })

  route({
    method: 'put',
    path: '/api/proxy/providers/{name}',
    access: 'admin',
    summary: 'Change a provider, for the calls that come after; null goes back to what service.yaml says',
    params,
    body: change,
    returns,
    throws: [404, 409],
    async handle({ params: { name }, body: { if_generation: ifGeneration, ...said }, ...by }) {
      await use(ProviderEntries).change(name, said, { ...by, ifGeneration }, () => {
        if (!find(name)) throw notFound(`There is no provider called ${name}.`, { param: 'name' })
      })
      emit(ProvidersChanged, { name, change: 'changed' }, { cause: by })
      return item(name)
    },
  })

  route({
    method: 'delete',
    path: '/api/proxy/providers/{name}',
    access: 'admin',
    summary: 'Remove a provider that was added at runtime, or what was changed of another one',
    params,
    query: ifGenerationQuery,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404, 409],
    async handle({ params: { name }, query: { if_generation: ifGeneration }, ...by }) {
      const entries = use(ProviderEntries)
      await entries.remove(name, { ...by, ifGeneration }, () => {
        if (!entries.has(name)) {
          if (!find(name)) throw notFound(`There is no provider called ${name}.`, { param: 'name' })
          throw conflict(`${name} was not added at runtime: switch its plugin off, or change service.yaml.`)
        }
        if (entries.isAdded(name)) use(RouteRules).demandNoneTo(name)
      })
      emit(ProvidersChanged, { name, change: 'removed' }, { cause: by })
      return { deleted: true as const, id: name }
    },
  })
}
