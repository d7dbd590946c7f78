import { defineArea, Tenants } from 'switchyard'
import { z } from 'zod'

export default defineArea({
  settings: z.strictObject({
    users: z.record(z.string(), z.string()).default({}).meta({
      title: 'Users',
      description: 'The organisation of each user, by the id of the user.',
    }),
  }),

  setup({ settings: { users }, provide }) {
    const tenants = new Map(Object.entries(users))
    provide(Tenants, { tenantOf: (userId) => tenants.get(userId) })
  },
})
