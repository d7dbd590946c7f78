import { defineArea } from 'switchyard'
import { z } from 'zod'

const banner = z.strictObject({ text: z.string().max(200) })

export default defineArea({
  settings: z.strictObject({}),

  setup({ route, section, store }) {
    const rows = store.collection('banner', { schema: banner })
    const set = section<z.infer<typeof banner>>({
      name: 'banner',
      read: (tx, key) => tx.get(rows, key),
      write(tx, key, value) {
        if (value) tx.put(rows, key, value)
        else tx.delete(rows, key)
      },
    })

    route({
      method: 'put',
      path: '/api/banner',
      access: 'admin',
      summary: 'Set the banner',
      body: banner,
      returns: banner,
      throws: [409],
      async handle(input) {
        await set('all', input.body, input)
        return input.body
      },
    })

    route({
      method: 'get',
      path: '/api/banner',
      access: 'any',
      summary: 'The banner',
      returns: banner,
      handle: async () => (await rows.get('all')) ?? { text: '' },
    })
  },
})
