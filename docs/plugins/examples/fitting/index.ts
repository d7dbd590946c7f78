import { badRequest, defineModule, TokenCounting } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({}),

  setup({ targets, find }) {
    return {
      async request(call) {
        const windows = (await targets(call)).map(({ window }) => window ?? Number.POSITIVE_INFINITY)
        const tokens = find(TokenCounting)?.estimate(call.request).tokens ?? 0
        const room = Math.max(...windows)
        if (windows.length > 0 && tokens > room) {
          throw badRequest(`The prompt has about ${tokens} tokens, and the model takes ${room}.`, {
            param: 'messages',
          })
        }
        return undefined
      },
    }
  },
})
