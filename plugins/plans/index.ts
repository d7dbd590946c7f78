import { z } from 'zod'
import { type Config, defineArea, kernelServices, Plans } from '#kernel'
import { personalOfUsers } from '#kit'
import { type Checkout, Checkouts } from './checkouts.ts'
import { Entitlements } from './entitlements.ts'
import type { LicenseState } from './license.ts'
import { planIds, plansWith } from './plans.ts'
import { Prompts } from './prompts.ts'
import { addCheckoutRoutes } from './routes/checkout.ts'
import { addPlanRoutes } from './routes/plans.ts'
import { addUpgradePromptRoutes } from './routes/upgrade-prompts.ts'
import { Signals } from './signals.ts'
import { upgradeEvents } from './upgrade-events.ts'

const hourMs = 3_600_000
const lookMs = 300_000
const keptDays = 90

const terms = z.strictObject({
  name: z.string().min(1).max(80).optional().meta({ title: 'Name', description: 'Name of the plan.' }),
  requests_per_month: z.int().min(0).optional().meta({
    title: 'Requests a month',
    description: 'Requests that a user of the plan has in a month, where plans are enforced.',
  }),
  price_usd: z.number().min(0).max(1_000_000).optional().meta({
    title: 'Price',
    description: 'USD per month.',
  }),
})

export default defineArea({
  settings: z.strictObject({
    plans: z.partialRecord(z.enum(planIds), terms).default({}).meta({
      title: 'Plans',
      description: 'Other names, monthly requests and prices of the plans, by the id of the plan.',
    }),
    checkout_url: z.string().max(2000).default('/api/checkout/{id}').meta({
      title: 'Checkout page',
      description: 'Address where users pay, shown with each checkout; {id} stands for the id.',
    }),
    checkout_hours: z.int().min(1).max(720).default(24).meta({
      title: 'Hours of a checkout',
      description: 'How long a checkout can be completed.',
    }),
  }),

  async setup(context) {
    const { settings, use, log } = context
    const { plans: rules, license: given } = use(kernelServices.config)
    const all = plansWith(settings.plans)
    const state = await licenseOf(given)
    if (state.status !== 'active') log.warn({ status: state.status }, `license: ${state.reason}`)
    const entitlements = new Entitlements({ plans: all, isEnforced: rules.enforce, license: state })
    const prompts = new Prompts(context)
    const signals = new Signals(context, prompts, entitlements)
    const checkouts = new Checkouts(context.store, settings.checkout_hours)
    const accounts = () => use(kernelServices.accounts)

    const complete = (id: string): Promise<Checkout> =>
      checkouts.end(id, 'completed', ({ user_id, plan }) => accounts().changeUser(user_id, { plan }))

    for (const event of upgradeEvents.values()) context.event(event)
    context.provide(Plans, {
      all,
      actsHere: entitlements.actsHere,
      tierOf: (principal) => entitlements.tierOf(principal),
      quotasOf: (principal) => entitlements.quotasOf(principal),
      demand: (principal, tier, what) => entitlements.demand(principal, tier, what),
      addUser: (add) => entitlements.addUser(add, async () => (await accounts().users({ limit: 0 })).total),
      suggest: (prompt) => prompts.suggest(prompt),
      completeCheckout: async (id) => void (await complete(id)),
    })
    for (const { ofUsers } of [prompts, checkouts]) context.personal(personalOfUsers(ofUsers))
    context.every(hourMs, async () => {
      await prompts.prune()
      await checkouts.prune(keptDays)
    })

    context.every(lookMs, () => signals.check())

    addPlanRoutes(context, all, entitlements)
    addCheckoutRoutes(context, checkouts, all, (id) => settings.checkout_url.replaceAll('{id}', id), complete)
    addUpgradePromptRoutes(context, prompts, entitlements, signals)
  },
})

/** The license of the configuration; what reads it is loaded only where there is one. */
async function licenseOf({ key, publicKey }: Config['license']): Promise<LicenseState> {
  if (key === undefined) return { status: 'active', license: undefined }
  const { readLicense } = await import('./license-token.ts')
  return readLicense(key, publicKey)
}
