import { defineModule } from 'switchyard'
import { byName, limitTokens } from 'switchyard/kit'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    tokens: z.record(z.string(), z.int().min(1)).default({ '*': 4096 }).meta({
      title: 'Tokens',
      description: 'Most tokens of an answer, by model or glob.',
    }),
  }),

  setup({ settings: { tokens } }) {
    const mostOf = byName(tokens)
    return {
      pure: true,
      request(call) {
        const most = mostOf(call.request.model)
        return most === undefined ? undefined : limitTokens(call, most)
      },
    }
  },
})
