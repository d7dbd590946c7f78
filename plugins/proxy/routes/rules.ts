import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { listed, listOf, listQuery } from '#kit'

const rule = z.object({
  order: z.int().meta({ description: 'From 1; the first that matches counts.' }),
  match: z.string().meta({ description: 'Glob over the model asked for.' }),
  provider: z.string(),
  model: z.string().nullable().meta({ description: "The model's name there, if it is another." }),
  source: z.literal('config'),
})

/** Which provider gets which model, as far as the operator said so. */
export function addRuleRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/proxy/routes',
    access: 'any',
    summary: 'The configured routing rules; models that none matches go to the provider that serves them',
    query: listQuery,
    returns: listOf('routes', rule),
    handle({ query }) {
      const { routes } = use(kernelServices.config)
      const all = routes.map(({ match, provider, model }, i) => ({
        order: i + 1,
        match,
        provider,
        model: model ?? null,
        source: 'config' as const,
      }))
      const items = all.slice(query.offset, query.offset + query.limit)
      return listed('routes', { items, total: all.length }, query)
    },
  })
}
