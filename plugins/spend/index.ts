import { z } from 'zod'
import { type Cap, Counting, defineArea, Figures, Spend, type SpendClaim, ThreadEnded } from '#kernel'
import { personalOfUsers, type RecentCosts } from '#kit'
import { CapCounts, type Open, type Settled } from './counts.ts'
import { Periods } from './periods.ts'
import { spendRoutes } from './routes/spend.ts'
import { userRoutes } from './routes/user.ts'
import { CostThreshold, SpendCapExceeded, Told } from './told.ts'
import { UserCaps } from './user-caps.ts'

const compareMs = 5_000
const pruneMs = 3_600_000

interface Standing {
  readonly by: string
  readonly caps: readonly Cap[]
}

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const { askFirstThread, event, every, memory, on, own, personal, provide, store, use } = context
    event(CostThreshold)
    event(SpendCapExceeded)
    const caps = new UserCaps(store)
    own(await caps.load())

    const budget = (by: string) => use(Counting).budget(`spend ${by}`)
    const told = new Told(context)
    const periods = new Periods({ budget, figures: () => use(Figures) })
    const counts = new CapCounts({
      budget,
      periods,
      told,
      open: memory<Open>('open', () => new Map()),
      recent: memory<RecentCosts>('recent', () => new Map()),
    })
    const reserve = askFirstThread('reserve', (claim: SpendClaim, thread) => counts.reserve(claim, thread))
    const settle = askFirstThread('settle', (settled: Settled) => counts.settle(settled))
    const standings = askFirstThread('standings', (of: Standing) => counts.standings(of.by, of.caps))
    on(ThreadEnded, ({ thread }) => counts.lose(thread))
    every(compareMs, () => periods.upkeep())
    every(pruneMs, () => told.prune())

    const spend: Spend = {
      capsOf: (userId) => caps.of(userId),
      anyCaps: () => caps.any,
      standings: async (by, caps) => surely(await standings({ by, caps })),
      reserve: async (claim) => surely(await reserve(claim)),
      settle: async (claim, { id }, used) => settle({ claim, id, used }),
    }
    provide(Spend, spend)
    personal(
      personalOfUsers(
        {
          count: (user) => (caps.of(user).length > 0 ? 1 : 0),
          erase: async (user) => Number(await caps.delete(user)),
        },
        ['deletion'],
      ),
    )
    personal(personalOfUsers(told.ofUsers))
    userRoutes(context, { caps, spend })
    spendRoutes(context)
  },
})

/** The answer of the first thread, which is missing while the plugin is replaced there. */
function surely<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Error('spending is not counted at the moment')
  return answer
}
