import { badRequest, defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    max_messages: z.int().min(1).default(20).meta({
      title: 'Messages',
      description: 'Most messages that a conversation may have.',
    }),
  }),

  /** Until version 2 the setting was called `limit`. */
  migrate({ limit, ...rest }) {
    return limit === undefined ? rest : { ...rest, max_messages: limit }
  },

  setup({ settings: { max_messages } }) {
    return {
      request({ request: { messages = [] } }) {
        if (messages.length <= max_messages) return undefined
        throw badRequest(`Send at most ${max_messages} messages.`, { param: 'messages' })
      },
    }
  },
})
