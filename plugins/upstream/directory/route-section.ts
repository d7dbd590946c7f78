import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { badRequest, type Collection, type Forms, type PortableSection, type Store } from '#kernel'
import { changed } from '#kit'

/** One line of the table: which provider gets a model. */
export const routeRule = z.strictObject({
  match: z.string().min(1).max(256).meta({ description: 'A model name, or a glob such as gpt-*.' }),
  provider: z.string().min(1).max(256).meta({ description: 'The provider for these calls.' }),
  model: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .default(null)
    .meta({ description: "The provider's name for the model, if different." }),
  priority: z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .default(0)
    .meta({ description: 'The matching rule with the highest priority is used; among equals the first.' }),
})

export type RouteRule = z.output<typeof routeRule>

export const mostRoutes = 500

const stored = z.object({ rules: z.array(routeRule), updated_at: z.string() })
export type StoredRoutes = z.output<typeof stored>

export const sectionName = 'routes'

/** The one row, and the one key of the section. */
export const rowId = 'table'

/** The collection of the table that was set at runtime, in a part of the store. */
export const routeRows = (store: Store): Collection<StoredRoutes> =>
  store.collection('routes', { schema: stored })

/**
 * The table as a section of the configuration, in the place of that of service.yaml; a rule that leads nowhere would turn every call
 * it matches away. `isThere` tells whether there is a provider once all this is set.
 */
export const routeSection = (
  rows: Collection<StoredRoutes>,
  configured: readonly RouteRule[],
  isThere: (provider: string, after: Forms) => boolean,
): PortableSection<readonly RouteRule[]> => ({
  name: sectionName,
  most: 1,
  read: (transaction) => transaction.get(rows, rowId)?.rules,
  write(transaction, _, rules) {
    const updated_at = new Date().toISOString()
    if (rules) transaction.put(rows, rowId, { rules: [...rules], updated_at })
    else transaction.delete(rows, rowId)
  },
  async *all() {
    const row = await rows.get(rowId)
    if (row) yield [rowId, row.rules]
  },
  shared: (rules) => rules,
  fits(rules, after) {
    for (const [i, { provider }] of rules.entries())
      if (!isThere(provider, after))
        throw badRequest(`There is no provider called ${provider}.`, { param: `${i}.provider` })
  },
  fitsUnset(after) {
    for (const { match, provider } of configured)
      if (!isThere(provider, after))
        throw badRequest(`The route ${match} of service.yaml leads to ${provider}, which is no provider.`)
  },
  given(key, form, before) {
    if (key !== rowId) throw badRequest(`The one key of routes is ${rowId}.`)
    const { routes } = changed(
      {},
      { routes: form },
      z.strictObject({ routes: z.array(routeRule).max(mostRoutes) }),
    )
    return isDeepStrictEqual(routes, before) ? before : routes
  },
})
