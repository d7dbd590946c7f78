import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { badRequest, type Collection, type Forms, type PortableSection, type Store } from '#kernel'
import { changed } from '#kit'
import type { Lead } from './leads.ts'

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

/** What leads to providers beside the table, and which there are. */
export interface Ways {
  /** Whether there is a provider of that name once a change has left this set. */
  readonly isThere: (provider: string, after: Forms) => boolean
  /** What modules lead to now, and will once this is set as far as their settings stay. */
  readonly leads: (after?: Forms) => readonly Lead[]
}

/**
 * The table as a section of the configuration, in the place of that of service.yaml; a rule that leads nowhere, as a name in the settings
 * of a module, would turn every call it matches away.
 */
export const routeSection = (
  rows: Collection<StoredRoutes>,
  configured: readonly RouteRule[],
  { isThere, leads }: Ways,
): PortableSection<readonly RouteRule[]> => {
  const demandLed = (after: Forms): void => {
    const lost = leads(after).find(({ provider }) => !isThere(provider, after))
    if (lost)
      throw badRequest(`${lost.from} of ${lost.module} leads to ${lost.provider}, which is no provider.`)
  }
  return {
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
      demandLed(after)
    },
    fitsUnset(after) {
      for (const { match, provider } of configured)
        if (!isThere(provider, after))
          throw badRequest(`The route ${match} of service.yaml leads to ${provider}, which is no provider.`)
      demandLed(after)
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
  }
}
