import { contentBlocked, defineModule } from 'switchyard'
import { requestTexts } from 'switchyard/kit'
import { z } from 'zod'

const verdict = z.object({ allowed: z.boolean() })

export default defineModule({
  settings: z.strictObject({
    url: z.url().default('http://127.0.0.1:8080/moderate').meta({
      title: 'Service',
      description: 'Where texts are sent.',
    }),
  }),

  setup({ settings: { url }, fetch, secret }) {
    const authorization = `Bearer ${secret('MODERATION_KEY')}`
    return {
      async request({ request, signal }) {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ texts: requestTexts(request).map(({ text }) => text) }),
          signal,
        })
        const { allowed } = verdict.parse(await response.json())
        if (!allowed) throw contentBlocked('The moderation service refuses this text.')
        return undefined
      },
    }
  },
})
