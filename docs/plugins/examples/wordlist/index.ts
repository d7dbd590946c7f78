import { contentBlocked, defineModule } from 'switchyard'
import { requestTexts } from 'switchyard/kit'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    pattern: z.string().default('confidential').meta({
      title: 'Pattern',
      description: 'A regular expression. One that takes for ever ends the worker, and not the gateway.',
    }),
  }),

  setup({ settings: { pattern } }) {
    const expression = new RegExp(pattern, 'i')
    return {
      request({ request }) {
        for (const { text } of requestTexts(request)) {
          if (expression.test(text)) throw contentBlocked('The request has a text that is not allowed.')
        }
        return undefined
      },
    }
  },
})
