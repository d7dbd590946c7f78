import { z } from 'zod'
import { type Context, kernelServices, type Registry } from '#kernel'
import { openapi } from '../openapi/document.ts'

const query = z.strictObject({
  path: z
    .string()
    .max(400)
    .optional()
    .meta({ description: 'Only what is at this path, written as the document writes it.' }),
})

/** The description of the API as it is right now, made once for each generation that is asked for. */
export function addOpenapiRoute({ route, use }: Context<unknown>): void {
  const made = new WeakMap<Registry['generation'], Promise<Record<string, unknown>>>()

  route({
    method: 'get',
    path: '/api/openapi.json',
    access: use(kernelServices.config).openapi.public ? 'public' : 'any',
    summary: 'This API as an OpenAPI 3.1 document',
    query,
    returns: z.record(z.string(), z.unknown()),
    handle({ query: { path } }) {
      const { generation } = use(kernelServices.registry)
      const { version } = use(kernelServices.runtime)
      if (path !== undefined) return openapi(generation, version, path)
      let document = made.get(generation)
      if (!document) {
        document = openapi(generation, version)
        made.set(generation, document)
      }
      return document
    },
  })
}
