import { z } from 'zod'
import { AnswerCaches, defineArea } from '#kernel'
import { Caches } from './caches.ts'
import { entryRoutes } from './routes/entries.ts'
import { statsRoute } from './routes/stats.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const caches = new Caches(context)
    context.provide(AnswerCaches, caches)
    statsRoute(context, caches)
    entryRoutes(context, caches)
  },
})
