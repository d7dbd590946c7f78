import { z } from 'zod'
import { defineModule, operator, type Principal, SealedBodies, type Subject } from '#kernel'

type Caller = Pick<Principal, 'userId' | 'tenant'>

export default defineModule({
  settings: z.strictObject({
    tenants: z
      .union([z.literal('all'), z.array(z.string().min(1).max(200))])
      .default('all')
      .meta({
        title: 'Tenants',
        description: 'Whose calls are sealed: everybody’s, or those of these tenants.',
      }),
  }),

  setup({ id, settings: { tenants }, provide }) {
    const seals = ({ tenant }: Caller): boolean =>
      tenants === 'all' || (tenant !== undefined && tenants.includes(tenant))
    provide(SealedBodies, {
      subjectOf: (caller) => (seals(caller) ? ownerOf(caller) : undefined),
    })
    return {
      pure: true,
      request({ principal, trace }) {
        if (seals(principal)) trace.note(id, 'sealed')
        return undefined
      },
    }
  },
})

/** A tenant's bodies have one key, those of users without one a key each; the operator's calls have the operator's. */
const ownerOf = ({ tenant, userId = operator }: Caller): Subject =>
  tenant === undefined ? { kind: 'user', id: userId } : { kind: 'tenant', id: tenant }
