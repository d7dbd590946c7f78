import { defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    passages: z.record(z.string(), z.string()).default({}).meta({
      title: 'Passages',
      description: 'Texts, each by the word of a question that asks for it.',
    }),
  }),

  setup({ settings: { passages }, inspect }) {
    return {
      async request(call) {
        const { messages = [] } = call.request
        const question = JSON.stringify(messages.at(-1)?.content ?? '')
        const found = Object.entries(passages).filter(([word]) => question.includes(word))
        if (found.length === 0) return undefined
        const texts = await inspect(
          call,
          found.map(([, text]) => ({ role: 'system', text })),
        )
        const passage = { role: 'system' as const, content: texts.join('\n') }
        return call.withRequest({ messages: [passage, ...messages] })
      },
    }
  },
})
