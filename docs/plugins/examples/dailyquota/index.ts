import { defineModule, rateLimited } from 'switchyard'
import { z } from 'zod'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

export default defineModule({
  settings: z.strictObject({
    calls: z
      .int()
      .min(1)
      .default(1000)
      .meta({ title: 'Calls', description: 'Calls a user may make in a day.' }),
  }),

  async setup({ settings: { calls }, store, every }) {
    const counters = await store.counters('calls')
    const today = () => Math.floor(Date.now() / dayMs)
    const forgetOtherDays = () => {
      for (const [counter] of counters.entries()) {
        if (!counter.startsWith(`${today()}/`)) counters.delete(counter)
      }
    }
    forgetOtherDays()
    every(hourMs, forgetOtherDays)
    return {
      request({ principal }) {
        const counter = `${today()}/${principal.userId ?? principal.keyId}`
        if (counters.get(counter) >= calls) {
          const retryAfterS = Math.ceil((dayMs - (Date.now() % dayMs)) / 1000)
          throw rateLimited(`${calls} calls a day are allowed. Try again tomorrow.`, { retryAfterS })
        }
        counters.add(counter, 1)
        return undefined
      },
    }
  },
})
