import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { ProviderDirectory } from '#provider'
import { appsOf, productsOf } from '../catalogue.ts'

const app = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  source: z.enum(['builtin', 'local', 'package']),
  endpoints: z.int().meta({ description: 'Operations that it adds to this API.' }),
})

const product = z.object({
  id: z.string(),
  kind: z.enum(['area', 'modules', 'providers']),
  title: z.string(),
  description: z.string(),
  total: z.int().meta({ description: 'Operations of an area, modules of a category, or providers.' }),
  enabled: z.int().meta({ description: 'Number of them that are on or have a key.' }),
})

/** What runs here, and what there is. */
export function addCatalogueRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/apps',
    access: 'any',
    summary: 'The management areas of this gateway',
    query: listQuery,
    returns: listOf('apps', app),
    handle({ query }) {
      const all = appsOf(use(kernelServices.registry))
      return listed(
        'apps',
        pageOf(all, query, ({ name }) => name),
        query,
      )
    },
  })

  route({
    method: 'get',
    path: '/api/products',
    access: 'any',
    summary: 'The features of this gateway: areas, categories of modules, providers',
    query: listQuery,
    returns: listOf('products', product),
    handle({ query }) {
      const all = productsOf(use(kernelServices.registry), use(ProviderDirectory).providers)
      return listed(
        'products',
        pageOf(all, query, ({ kind, id }) => `${kind} ${id}`),
        query,
      )
    },
  })
}
