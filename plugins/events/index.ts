import { z } from 'zod'
import { defineArea, kernelServices } from '#kernel'
import { jsonSchemaOf, listed, listOf, listQuery, pageOf } from '#kit'

const eventItem = z.object({
  name: z.string().meta({ description: 'The canonical name, with dots.' }),
  alias: z.string().nullable().meta({ description: 'A second name that subscribers may use for it.' }),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of its data.' }),
  emitted_by: z.array(z.string()).meta({ description: 'Ids of plugins; gateway for the gateway itself.' }),
})

export default defineArea({
  settings: z.strictObject({}),
  setup({ route, use }) {
    route({
      method: 'get',
      path: '/api/events/catalogue',
      access: 'admin',
      summary: 'The types of events, with the schemas of their data',
      query: listQuery.extend({ limit: listQuery.shape.limit.default(500) }),
      returns: listOf('events', eventItem),
      handle({ query }) {
        const all = use(kernelServices.events).list()
        const page = pageOf(all, query, ({ type }) => type.name)
        const items = page.items.map(({ type, emittedBy }) => ({
          name: type.name,
          alias: type.alias ?? null,
          description: type.description,
          schema: jsonSchemaOf(type.schema) ?? {},
          emitted_by: [...emittedBy],
        }))
        return listed('events', { ...page, items }, query)
      },
    })
  },
})
