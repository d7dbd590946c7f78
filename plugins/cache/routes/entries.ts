import { z } from 'zod'
import { type CachedAnswer, type Context, notFound, type Principal } from '#kernel'
import { forbidOthers, listed, listOf, listQuery, pageOf, scopeOf, shown, storedPage } from '#kit'
import type { Caches } from '../caches.ts'

const nullable = z.string().nullable()

const item = z.object({
  id: z.string(),
  cache: z.string(),
  model: nullable.meta({ description: 'As the call asked that the answer was made for.' }),
  provider: nullable,
  user_id: nullable.meta({ description: 'Whose call it was made for.' }),
  project: nullable,
  bytes: z.int(),
  hits: z.int().meta({ description: 'How often it was given again.' }),
  age_seconds: z.int(),
  created_at: z.string().meta({ format: 'date-time' }),
  expires_at: z.string().meta({ format: 'date-time' }),
})

const itemOf = (cache: string, found: CachedAnswer): z.infer<typeof item> => ({
  id: found.id,
  cache,
  model: found.model ?? null,
  provider: found.provider ?? null,
  user_id: found.userId ?? null,
  project: found.project ?? null,
  bytes: found.bytes,
  hits: found.hits,
  age_seconds: Math.max(0, Math.floor((Date.now() - found.storedAt) / 1000)),
  created_at: new Date(found.storedAt).toISOString(),
  expires_at: new Date(found.expiresAt).toISOString(),
})

const text = z.string().min(1).max(256).optional()
const params = z.strictObject({ id: z.string().min(1).max(200) })

/** Cached answers without their texts: users see and delete those made for their own calls, admins all. */
export function entryRoutes({ route }: Pick<Context<unknown>, 'route'>, caches: Caches): void {
  route({
    method: 'get',
    path: '/api/cache',
    access: 'any',
    summary: 'The cached answers, without their texts',
    query: listQuery.extend({
      cache: text.meta({ description: 'The name of a cache, as in the statistics; the first without it.' }),
      user_id: text,
      model: text,
    }),
    returns: listOf('entries', item),
    throws: [403, 404],
    async handle({ query: { limit, offset, cursor, cache: name, ...given }, principal }) {
      const page = { limit, offset, cursor }
      const which = { model: given.model, userId: forbidOthers(principal, given.user_id) }
      const cache = caches.named(name)
      const rows = cache
        ? await storedPage(page, (window) => cache.list(which, window))
        : pageOf<CachedAnswer>([], page, ({ id }) => id)
      return listed(
        'entries',
        shown(rows, (row: CachedAnswer) => itemOf(cache!.name, row)),
        page,
      )
    },
  })

  route({
    method: 'get',
    path: '/api/cache/{id}',
    access: 'any',
    summary: 'A cached answer, without its text',
    params,
    returns: item,
    throws: [403],
    async handle({ params: { id }, principal }) {
      const [found] = await own(id, principal)
      return found!
    },
  })

  route({
    method: 'delete',
    path: '/api/cache/{id}',
    access: 'any',
    summary: 'Delete a cached answer, in all threads and all caches',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403],
    async handle({ params: { id }, principal }) {
      await own(id, principal)
      await caches.clear({ id, userId: scopeOf(principal) })
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'delete',
    path: '/api/cache',
    access: 'admin',
    summary: 'Clear the caches of answers, or what they hold of a user or a model',
    query: z.strictObject({ user_id: text, model: text }),
    returns: z.object({
      deleted: z.literal(true),
      entries: z.int().meta({ description: 'How many answers were deleted.' }),
      caches: z.array(z.string()).meta({
        description:
          'The caches that are on. Without user_id and model, those that are off are cleared when they come on.',
      }),
    }),
    async handle({ query: { user_id: userId, model } }) {
      const entries = await caches.clear({ userId, model })
      return { deleted: true as const, entries, caches: caches.on.map(({ name }) => name) }
    },
  })

  /** The answers of this id that the caller may see, in all caches; throws where there is none. */
  async function own(id: string, principal: Principal | undefined): Promise<z.infer<typeof item>[]> {
    const user = scopeOf(principal)
    const found: z.infer<typeof item>[] = []
    for (const cache of caches.on) {
      const answer = await cache.get(id)
      if (answer && (user === undefined || answer.userId === user)) found.push(itemOf(cache.name, answer))
    }
    if (found.length === 0) throw notFound(`There is no cached answer ${id}.`, { param: 'id' })
    return found
  }
}
