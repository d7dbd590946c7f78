import { z } from 'zod'
import { badRequest, type Context, operator, type Principal } from '#kernel'
import { itemsOf } from './items.ts'
import { responseShape } from './shapes.ts'
import type { StoredResponses } from './stored.ts'

/** The owner of a caller's responses: its user; admin keys without one share theirs. */
export const ownerOf = (principal: Principal | undefined): string => principal?.userId ?? operator

const params = z.strictObject({ id: z.string() })
const names = z.union([z.string(), z.array(z.string())]).optional()
/** Everything that can be included is there anyway. */
const included = { include: names, 'include[]': names }

const laterOnly = 'only responses that are made in the background can be streamed later'

const page = z.strictObject({
  ...included,
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
})

/** Stored responses, for their owner. */
export function addResponseRoutes({ route }: Context<unknown>, stored: StoredResponses): void {
  route({
    method: 'get',
    path: '/v1/responses/{id}',
    access: 'any',
    summary: 'A stored response of the caller’s',
    params,
    query: z.strictObject({ ...included, stream: z.literal('false', { error: laterOnly }).optional() }),
    returns: responseShape,
    async handle({ params: { id }, principal }) {
      return (await stored.get(ownerOf(principal), id)).response as z.infer<typeof responseShape>
    },
  })

  route({
    method: 'delete',
    path: '/v1/responses/{id}',
    access: 'any',
    summary: 'Delete a stored response of the caller’s',
    params,
    returns: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
    async handle({ params: { id }, principal }) {
      await stored.delete(ownerOf(principal), id)
      return { id, object: 'response' as const, deleted: true as const }
    },
  })

  route({
    method: 'get',
    path: '/v1/responses/{id}/input_items',
    access: 'any',
    summary: 'The input of a stored response: the items of earlier turns, then its own',
    params,
    query: page,
    returns: z.object({
      object: z.literal('list'),
      data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
    async handle({ params: { id }, query: { after, limit, order }, principal }) {
      const turns = await stored.conversation(ownerOf(principal), id, 'response_id')
      const items = [...itemsOf(turns.slice(0, -1)), ...turns.at(-1)!.input]
      if (order === 'desc') items.reverse()
      const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1
      if (after !== undefined && start === 0)
        throw badRequest(`There is no item ${after}.`, { param: 'after' })
      const data = items.slice(start, start + limit)
      return {
        object: 'list' as const,
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: start + limit < items.length,
      }
    },
  })
}
