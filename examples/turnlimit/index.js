import { badRequest, defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    most: z.int().min(1).optional().meta({
      title: 'Most messages',
      description: 'Conversations with more messages are refused; all pass without it.',
    }),
  }),

  setup({ settings: { most } }) {
    if (most === undefined) return {}
    return {
      request({ request }) {
        const count = request.messages?.length ?? 0
        if (count > most)
          throw badRequest(`The conversation has ${count} messages; ${most} are allowed. Begin anew.`)
        return undefined
      },
    }
  },
})
