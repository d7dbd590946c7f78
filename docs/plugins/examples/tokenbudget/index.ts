import { Counting, defineModule, type Held, rateLimited } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    tokens: z.int().min(1).default(1_000_000).meta({ title: 'Tokens', description: 'Tokens in a month.' }),
    calls: z.int().min(1).default(4).meta({ title: 'Calls', description: 'Calls at a time.' }),
    timezone: z.string().default('UTC').meta({ title: 'Time zone', description: 'Where months begin.' }),
  }),

  setup({ id, settings: { tokens, calls, timezone }, slot, use }) {
    const budget = () => use(Counting).budget(id)
    const held = slot<{ reservation?: Held }>(() => ({}))
    return {
      async request(call) {
        const name = `user:${call.principal.userId ?? call.principal.keyId}`
        const amount = call.request.max_tokens ?? 1000
        const reservation = await budget().reserve([
          { name, unit: 'tokens', limit: { kind: 'month', most: tokens, timezone }, amount },
          { name, unit: 'calls', limit: { kind: 'concurrency', most: calls }, amount: 1 },
        ])
        if (!reservation.granted) {
          const [what, ms = 0] = [reservation.claim === 0 ? 'tokens' : 'calls', reservation.retryMs]
          throw rateLimited(`Your ${what} are used up.`, { retryAfterS: Math.ceil(ms / 1000) })
        }
        held(call).reservation = reservation
        return undefined
      },
      async settled({ usage }, call) {
        const { reservation } = held(call)
        if (reservation) await budget().settle(reservation, { tokens: usage.input + usage.output })
      },
    }
  },
})
