import { defineArea } from 'switchyard'
import { collect } from 'switchyard/kit'
import { z } from 'zod'

const opinion = z.object({ trace_id: z.string(), model: z.string(), text: z.string() })

export default defineArea({
  settings: z.strictObject({
    models: z.array(z.string()).min(1).max(5).default(['gpt-4o-mini', 'gpt-4o']).meta({
      title: 'Models',
      description: 'The models that are asked.',
    }),
  }),

  setup({ settings: { models }, route, call }) {
    route({
      method: 'post',
      path: '/api/secondopinion',
      access: 'user',
      summary: 'Ask several models one question',
      body: z.strictObject({ question: z.string().min(1) }),
      returns: z.object({ opinions: z.array(opinion) }),
      async handle({ body: { question }, principal, ip, signal }) {
        const ask = async (model: string) => {
          const request = { model, messages: [{ role: 'user' as const, content: question }] }
          const made = call(request, { as: principal!, source: 'playground', ip, signal })
          const { choices } = await collect(await made.reply)
          return { trace_id: made.id, model, text: String(choices?.[0]?.message?.content ?? '') }
        }
        return { opinions: await Promise.all(models.map(ask)) }
      },
    })
  },
})
