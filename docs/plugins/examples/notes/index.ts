import { defineArea, forbidden, newId, notFound, Sealing, Signing } from 'switchyard'
import { personalOfUsers } from 'switchyard/kit'
import { z } from 'zod'

const row = z.object({ user: z.string(), sealed: z.string() })
const note = z.object({ id: z.string(), text: z.string(), key_id: z.string(), signature: z.string() })

export default defineArea({
  settings: z.strictObject({}),

  setup({ id: plugin, store, route, use, personal }) {
    const notes = store.collection('notes', { schema: row, indexes: { user: ({ user }) => user } })

    personal(
      personalOfUsers({
        count: (user) => notes.count({ index: 'user', equals: user }),
        async erase(user) {
          let erased = 0
          for await (const [id] of notes.scan({ index: 'user', equals: user })) {
            if (await notes.delete(id)) erased += 1
          }
          return erased
        },
      }),
    )

    route({
      method: 'post',
      path: '/api/notes',
      access: 'user',
      summary: 'Keep a note',
      body: z.strictObject({ text: z.string().max(10_000) }),
      status: 201,
      returns: z.object({ id: z.string() }),
      async handle({ body: { text }, principal }) {
        const user = principal?.userId
        if (user === undefined) throw forbidden('Use the key of a user.')
        const seal = await use(Sealing).sealFor(plugin, { kind: 'user', id: user })
        const id = newId('note_')
        await notes.put(id, { user, sealed: seal(text) })
        return { id }
      },
    })

    route({
      method: 'get',
      path: '/api/notes/{id}',
      access: 'user',
      summary: 'A note, signed',
      params: z.strictObject({ id: z.string() }),
      returns: note,
      async handle({ params: { id }, principal }) {
        const found = await notes.get(id)
        const text =
          found && found.user === principal?.userId && (await use(Sealing).open(plugin, found.sealed))
        if (!text) throw notFound('There is no such note.', { param: 'id' })
        return { id, text, ...(await use(Signing).sign(Buffer.from(text))) }
      },
    })
  },
})
