import { createHash } from 'node:crypto'
import { type Call, defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    model: z.string().default('gpt-4o').meta({ title: 'Model', description: 'The model to split.' }),
    other: z.string().default('gpt-4o-mini').meta({ title: 'Other', description: 'The model to try.' }),
    share: z.number().min(0).max(1).default(0.5).meta({ title: 'Share', description: 'Users that get it.' }),
  }),

  setup({ settings: { model, other, share } }) {
    const tries = ({ principal, request }: Call): boolean => {
      const user = principal.userId ?? principal.keyId
      const [byte] = createHash('sha256').update(user).digest()
      return request.model === model && byte! / 256 < share
    }
    return {
      request: (call) => (tries(call) ? call.withRequest({ model: other }) : undefined),
      varies: (call) => (tries(call) ? other : undefined),
    }
  },
})
