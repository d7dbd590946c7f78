import { defineArea, Jobs, notFound } from 'switchyard'
import { z } from 'zod'

const message = z.strictObject({ text: z.string().max(10_000), urls: z.array(z.url()).min(1).max(20) })
const delivery = z.object({ id: z.string(), status: z.string(), attempts: z.int() })

export default defineArea({
  settings: z.strictObject({}),

  setup(ctx) {
    const deliveries = ctx.use(Jobs).define(ctx, 'delivery', {
      input: message,
      concurrency: 10,
      delaysMs: [100, 30_000, 300_000],
      timeoutMs: 15_000,
      async run({ input: { text, urls }, signal, step }) {
        for (const url of urls) {
          await step(url, async (key) => {
            const headers = { 'idempotency-key': key }
            const answer = await ctx.fetch(url, { method: 'POST', headers, body: text, signal })
            if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
          })
        }
      },
    })

    ctx.route({
      method: 'post',
      path: '/api/courier/deliveries',
      access: 'admin',
      summary: 'Post a message to several addresses',
      body: message,
      status: 202,
      returns: z.object({ id: z.string() }),
      handle: async ({ body }) => ({ id: await deliveries.add(body) }),
    })

    ctx.route({
      method: 'get',
      path: '/api/courier/deliveries/{id}',
      access: 'admin',
      summary: 'How a delivery stands',
      params: z.strictObject({ id: z.string().max(400) }),
      returns: delivery,
      throws: [404],
      async handle({ params: { id } }) {
        const found = await deliveries.get(id)
        if (!found) throw notFound(`There is no delivery ${id}.`)
        return found
      },
    })
  },
})
