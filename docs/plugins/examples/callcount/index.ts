import { defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({}),

  once({ route }) {
    const counts: Record<string, number> = {}
    route({
      method: 'get',
      path: '/api/modules/callcount',
      access: 'admin',
      summary: 'Calls by configuration',
      returns: z.record(z.string(), z.int()),
      handle: () => counts,
    })
    return counts
  },

  setup({ id }, counts) {
    return {
      request() {
        counts[id] = (counts[id] ?? 0) + 1
        return undefined
      },
    }
  },
})
