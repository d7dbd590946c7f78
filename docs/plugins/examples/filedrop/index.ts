import { defineArea, notFound, type Principal } from 'switchyard'
import { fileAnswer, streamedBody } from 'switchyard/kit'
import { z } from 'zod'

const params = z.object({ name: z.string().max(200) })
const file = z.object({ name: z.string(), type: z.string(), size: z.number(), sha256: z.string() })

export default defineArea({
  settings: z.strictObject({
    max_mb: z
      .int()
      .min(1)
      .default(1024)
      .meta({ title: 'Megabytes', description: 'How large a file may be.' }),
  }),

  setup({ settings, route, store }) {
    const bodies = store.bodies('files')
    const files = store.collection('files', { schema: file })
    const idOf = (owner: Principal | undefined, name: string) => `${owner!.userId ?? owner!.keyId}/${name}`

    route({
      method: 'put',
      path: '/api/filedrop/{name}',
      access: 'any',
      summary: 'Keep a file',
      params,
      body: streamedBody({ maxBytes: settings.max_mb * 2 ** 20 }),
      returns: file,
      async handle({ principal, params: { name }, body }) {
        const [id, type] = [idOf(principal, name), body.type ?? 'application/octet-stream']
        const { size, sha256 } = await bodies.write(id, body, (tx, { size, sha256 }) =>
          tx.put(files, id, { name, type, size, sha256 }),
        )
        return { name, type, size, sha256 }
      },
    })

    route({
      method: 'get',
      path: '/api/filedrop/{name}',
      access: 'any',
      summary: 'Get a file back',
      params,
      returns: fileAnswer,
      async handle({ principal, params: { name } }) {
        const id = idOf(principal, name)
        const [body, known] = [await bodies.get(id), await files.get(id)]
        if (!body || !known) throw notFound(`There is no file ${name}.`, { param: 'name' })
        const { size, sha256: etag } = body
        return { body: (from, to) => body.read(from, to + 1), size, etag, name, type: known.type }
      },
    })

    route({
      method: 'delete',
      path: '/api/filedrop/{name}',
      access: 'any',
      summary: 'Delete a file',
      params,
      returns: z.object({ deleted: z.literal(true), id: z.string() }),
      async handle({ principal, params: { name } }) {
        const id = idOf(principal, name)
        const isGone = await bodies.delete(id, (tx) => tx.delete(files, id))
        if (!isGone) throw notFound(`There is no file ${name}.`, { param: 'name' })
        return { deleted: true as const, id: name }
      },
    })
  },
})
