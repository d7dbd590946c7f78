import { z } from 'zod'
import type { Context } from '#kernel'
import { label } from '../input.ts'
import type { Studio } from '../studio.ts'
import { bySlug, ownerQuery, path } from './addressed.ts'

/** To fill a template without a call. */
export function addRenderRoute({ route }: Pick<Context<unknown>, 'route'>, studio: Studio): void {
  route({
    method: 'post',
    path: `${path}/{slug}/render`,
    access: 'any',
    summary: 'A template with values in place of its variables; no model is called',
    reads: true,
    params: bySlug,
    query: ownerQuery,
    body: z.strictObject({
      version: z.int().min(1).optional().meta({ description: 'The newest one, without a label either.' }),
      label: label.optional(),
      variables: z.record(z.string().max(64), z.unknown()).default({}),
    }),
    returns: z.object({
      slug: z.string(),
      version: z.int(),
      messages: z.array(z.object({ role: z.string(), content: z.string(), name: z.string().optional() })),
    }),
    throws: [403, 404, 413],
    async handle({ params: { slug }, query, body: { variables, ...which }, principal }) {
      const template = studio.shelf.known.find(slug, principal!, query.user_id)
      const version = studio.numberOf(template, which)
      const prompt = await studio.prompt(template, version)
      return { slug, version, messages: prompt.fill(variables, 'variables') }
    },
  })
}
