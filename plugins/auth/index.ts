import { z } from 'zod'
import { CallSettled, defineArea, kernelServices, keyStatus, Sessions, UsageRecords } from '#kernel'
import { personalOfUsers } from '#kit'
import { holders } from './holder.ts'
import { KeyQuota } from './key-quota.ts'
import { UsageMeter } from './meter.ts'
import { raiseAll } from './raise.ts'
import { addAccountRoutes } from './routes/account.ts'
import { addKeyRoutes } from './routes/keys.ts'
import { addProviderKeyRoutes } from './routes/provider-keys.ts'
import { addSessionRoutes } from './routes/sessions.ts'
import { addUsageRoute } from './routes/usage.ts'
import { addUserRoutes } from './routes/users.ts'
import { BrowserSessions } from './sessions.ts'

const hourMs = 3600 * 1000
const dayMs = 24 * hourMs

export default defineArea({
  settings: z.strictObject({
    usage_months: z.int().min(1).max(120).default(13).meta({
      title: 'Months of usage',
      description: 'Months of usage that are kept for each user, including the current one.',
    }),
    session_hours: z.int().min(1).max(720).default(12).meta({
      title: 'Hours of a session',
      description: 'How long a session of a browser lasts; it ends earlier with its key.',
    }),
    sessions_per_user: z.int().min(1).max(1000).default(20).meta({
      title: 'Sessions of a user',
      description: 'How many sessions a user, or an admin key, has at a time; of more the oldest end.',
    }),
  }),

  async setup(context) {
    const meter = new UsageMeter(await context.store.counters('usage'))
    context.on(CallSettled, ({ outcome, call }) => meter.add(outcome, call))
    context.provide(UsageRecords, {
      raise: (period, sums) => raiseAll(meter, context.use(kernelServices.accounts), period, sums),
    })
    const { usage_months: months } = context.settings
    context.personal(
      personalOfUsers(
        {
          count: (id) => meter.count(id, months, new Date()),
          erase: (id) => meter.clear(id, months, new Date()),
        },
        ['deletion'],
      ),
    )
    const prune = () => meter.prune(months, new Date())
    prune()
    context.every(dayMs, prune)

    const { session_hours: hours, sessions_per_user: most } = context.settings
    const sessions = new BrowserSessions(context, { hours, most })
    context.provide(Sessions, sessions)
    context.personal(
      personalOfUsers({ count: (id) => sessions.count(id), erase: (id) => sessions.endAll('holder', id) }),
    )
    context.every(hourMs, () => sessions.prune())
    const { keys } = context.use(kernelServices.accounts)
    context.own(keys.watch((key) => key && keyStatus(key) !== 'active' && sessions.endAll('key', key.id)))
    addSessionRoutes(context, sessions)

    const { own, admin, user } = holders(context)
    const { signupPerHour, keysPerUser } = context.use(kernelServices.config).auth
    addAccountRoutes(context, signupPerHour)
    addUserRoutes(context)
    const quota = new KeyQuota(keysPerUser)
    for (const holder of [own, user, admin]) addKeyRoutes(context, holder, quota)
    for (const holder of [own, user]) {
      addProviderKeyRoutes(context, holder)
      addUsageRoute(context, holder, meter)
    }
  },
})
