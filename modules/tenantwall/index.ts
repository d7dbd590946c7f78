import { z } from 'zod'
import { type Call, CallSettled, defineModule, type Principal, Tenants } from '#kernel'
import { detach, personalOfUsers, timezoneSchema } from '#kit'
import { quotasSchema } from './quotas.ts'
import type { Tenant } from './records.ts'
import { forAdmins, suspended, unassigned } from './refusals.ts'
import { addRoutes } from './routes.ts'
import { Tenancy } from './tenants.ts'
import { Wall } from './wall.ts'
import { showsWhole } from './whole.ts'

export default defineModule({
  settings: z.strictObject({
    default_quotas: quotasSchema.default({}).meta({
      title: 'Default quotas',
      description: 'Of every tenant, where its own quotas do not say otherwise.',
    }),
    timezone: timezoneSchema.default('UTC').meta({
      title: 'Time zone',
      description: 'Where the days and months of quotas begin.',
    }),
    unassigned: z.enum(['allow', 'refuse']).default('allow').meta({
      title: 'Users without a tenant',
      description: 'Whether they may call models. They share nothing with a tenant in any case.',
    }),
  }),

  async setup(context) {
    const { id, settings, store, own, on, provide, personal } = context
    const tenancy = new Tenancy(store)
    own(await tenancy.load())
    const wall = new Wall(context)
    provide(Tenants, { tenantOf: (userId) => tenancy.of(userId)?.id })
    personal(
      personalOfUsers(
        {
          count: (id) => (tenancy.of(id) ? 1 : 0),
          erase: async (id) => ((await tenancy.remove(id)) ? 1 : 0),
        },
        ['deletion'],
      ),
    )
    addRoutes(context, tenancy, wall)

    const tenantOf = ({ tenant }: Principal): Tenant | undefined => {
      const found = tenant === undefined ? undefined : tenancy.find(tenant)
      if (found?.suspended) throw suspended()
      return found
    }
    /** The tenant for whose user a plugin makes a call. */
    const tenantBehind = ({ origin, principal: { tenant, userId } }: Call): Tenant | undefined =>
      origin && userId !== undefined && tenant !== undefined ? tenancy.find(tenant) : undefined
    on(CallSettled, ({ call, outcome }) => {
      const found = tenantBehind(call)
      if (found) detach('what a plugin used for a tenant', wall.charge(found, outcome, call))
    })

    return {
      admit({ principal, path }) {
        if (!principal) return
        tenantOf(principal)
        if (principal.type === 'user' && showsWhole(path)) throw forAdmins()
      },
      request(call) {
        const tenant = tenantOf(call.principal)
        if (tenant) return wall.enter(tenant, call)
        call.trace.note(id, 'no_tenant')
        if (call.principal.type === 'user' && settings.unassigned === 'refuse') throw unassigned()
        return undefined
      },
      attempt: (attempt, call) =>
        call.principal.tenant === undefined ? undefined : wall.attempt(attempt, call, tenantBehind(call)),
      settled: (outcome, call) => wall.leave(outcome, call),
    }
  },
})
