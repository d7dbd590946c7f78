import { conflict, defineArea, defineEvent } from 'switchyard'
import { z } from 'zod'

const GuestSigned = defineEvent('guest.signed', z.strictObject({ name: z.string() }), {
  description: 'Somebody signed the guest book.',
})
const guest = z.strictObject({ name: z.string().min(1).max(200) })
const entry = guest.extend({ event: z.string(), signed_by: z.string() })

export default defineArea({
  settings: z.strictObject({}),

  setup({ event, emit, on, route, store }) {
    event(GuestSigned)
    const guests = store.collection('guests', { schema: guest })
    const feed = store.collection('feed', { schema: entry })

    on(GuestSigned, async ({ name }, { id, actor }) => {
      await feed.put(id, { name, event: id, signed_by: actor.id })
    })

    route({
      method: 'post',
      path: '/api/guestbook',
      access: 'admin',
      summary: 'Sign the guest book; a name can be in it once',
      body: guest,
      status: 201,
      returns: guest,
      throws: [409],
      async handle(input) {
        const { name } = input.body
        if (await guests.get(name)) throw conflict('This name is in the book.', { param: 'name' })
        await store.transaction((tx) => {
          emit(GuestSigned, { name }, { in: tx, cause: input })
          tx.create(guests, name, { name })
        })
        return { name }
      },
    })

    route({
      method: 'get',
      path: '/api/guestbook/feed',
      access: 'admin',
      summary: 'Who signed, by whose key',
      query: z.strictObject({ after: z.string().exactOptional() }),
      returns: z.object({ feed: z.array(entry), next: z.string().optional() }),
      async handle({ query }) {
        const { items, next } = await feed.list({ limit: 500, ...query })
        return { feed: items, ...(next !== undefined && { next }) }
      },
    })
  },
})
