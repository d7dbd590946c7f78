import { z } from 'zod'
import { badRequest, type Context, conflict } from '#kernel'
import { listed, listOf, listQuery, type PageQuery, pageOf } from '#kit'
import { mostRoutes, ProviderDirectory, type RouteRule, RouteRules, routeRule } from '#provider'
import { RoutesChanged } from '../events.ts'
import { ifGenerationField } from './modules.ts'

const rule = routeRule.extend({
  order: z.int().meta({ description: 'Position from 1; the first match is used.' }),
  source: z
    .enum(['config', 'api'])
    .meta({ description: 'Whether the rule is from service.yaml or was set at runtime.' }),
})

/** Which provider gets which model, as far as the operator said so. */
export function addRuleRoutes({ route, use, event, emit }: Context<unknown>): void {
  event(RoutesChanged)
  const page = (query: PageQuery) => {
    const { rules, source } = use(RouteRules)
    const all = rules.map((item, i) => ({ ...item, order: i + 1, source }))
    return listed('routes', pageOf(all, query, nameOf), query)
  }

  /** A rule that leads nowhere would turn every call it matches away. */
  const check = (rules: readonly RouteRule[]): void => {
    const directory = use(ProviderDirectory)
    for (const [i, { provider }] of rules.entries()) {
      if (directory.find(provider)) continue
      const names = directory.providers.map(({ name }) => name).sort()
      throw badRequest(`There is no provider called ${provider}. There are: ${names.join(', ')}.`, {
        param: `routes.${i}.provider`,
      })
    }
  }

  /** The same for the table of service.yaml, which the caller cannot send otherwise. */
  const checkConfigured = (rules: readonly RouteRule[]): void => {
    const lost = rules.find(({ provider }) => !use(ProviderDirectory).find(provider))
    if (lost)
      throw conflict(
        `The route ${lost.match} of service.yaml leads to ${lost.provider}, which is no provider: add it first, or send a table.`,
        { param: 'routes' },
      )
  }

  route({
    method: 'get',
    path: '/api/proxy/routes',
    access: 'any',
    summary:
      'The routing rules in the order in which they count; other models go to the provider that has them',
    query: listQuery,
    returns: listOf('routes', rule),
    handle: ({ query }) => page(query),
  })

  route({
    method: 'put',
    path: '/api/proxy/routes',
    access: 'admin',
    throws: [409],
    summary:
      'Set the whole table of routes, for the calls that come after; null goes back to that of service.yaml',
    body: z.strictObject({
      routes: z.array(routeRule).max(mostRoutes).nullable(),
      if_generation: ifGenerationField,
    }),
    returns: listOf('routes', rule),
    async handle(input) {
      const { body } = input
      const table = use(RouteRules)
      const { routes, if_generation: ifGeneration } = body
      await table.replace(routes, { ...input, ifGeneration }, routes ? check : checkConfigured)
      emit(RoutesChanged, { source: table.source, total: table.rules.length }, { cause: input })
      return page({ limit: mostRoutes, offset: 0 })
    },
  })
}

/** What a rule says, wherever it stands. */
const nameOf = ({ match, provider, model, priority }: RouteRule): string =>
  JSON.stringify([match, provider, model, priority])
