import { createHash } from 'node:crypto'
import { z } from 'zod'
import { nanoOf } from '#kit'

const usd = z.number().min(0).max(100_000)

/** A percentage to the hundredth. */
const markup = z.number().min(-100).max(10_000).multipleOf(0.01)

const terms = z.strictObject({
  markup_pct: markup.optional().meta({ title: 'Markup', description: 'Percent that is added to the cost.' }),
  min_call_usd: usd.optional().meta({ title: 'Least price', description: 'Least USD for a call.' }),
  min_month_usd: usd.optional().meta({
    title: 'Least invoice',
    description: 'Least USD for a month in which there was a call.',
  }),
})

export const rateSettings = {
  markup_pct: markup.default(0).meta({
    title: 'Markup',
    description: 'Percent that is added to the cost of each call.',
  }),
  min_call_usd: usd.default(0).meta({
    title: 'Least price of a call',
    description: 'Least USD for a call that was answered, also from the cache.',
  }),
  min_month_usd: usd.default(0).meta({
    title: 'Least invoice',
    description: 'Least USD for a month in which there was a call; the difference is a line of the invoice.',
  }),
  own_keys: z.boolean().default(false).meta({
    title: 'Own keys',
    description:
      'Whether calls with users’ own provider keys are billed like others. Their users pay the provider.',
  }),
  plans: z.record(z.string().max(100), terms).default({}).meta({
    title: 'Plans',
    description: 'Other rates for users of a plan, by the id of the plan.',
  }),
  tenants: z.record(z.string().max(200), terms).default({}).meta({
    title: 'Tenants',
    description: 'Other rates for a tenant, by its id. They go before those of a plan.',
  }),
}

const rates = z.strictObject(rateSettings)
export type Rates = z.infer<typeof rates>

/** The form in which rates are stored: as calls name them, whatever the settings become later. */
export const ratesRow: z.ZodType<Rates> = rates

/** What a caller pays: the markup in hundredths of a percent, the rest in nano-dollars. */
export interface Terms {
  readonly markup: number
  readonly minCallNano: number
  readonly minMonthNano: number
  /** Whether the cost of calls with users' own keys counts. */
  readonly ownKeys: boolean
}

/** The rates among the settings of a configuration. */
export function ratesOf({ markup_pct, min_call_usd, min_month_usd, own_keys, plans, tenants }: Rates): Rates {
  return { markup_pct, min_call_usd, min_month_usd, own_keys, plans, tenants }
}

/** The name of rates: the same rates have the same. */
export const idOfRates = (given: Rates): string =>
  createHash('sha256').update(JSON.stringify(given)).digest('base64url').slice(0, 16)

/** The terms of a caller: of the tenant, else of the plan, else of all, each by itself. */
export function termsFor(given: Rates, plan: string | undefined, tenant: string | undefined): Terms {
  const own = (named: Rates['plans'], id: string | undefined) =>
    id !== undefined && Object.hasOwn(named, id) ? named[id] : undefined
  const all = [own(given.tenants, tenant), own(given.plans, plan), given]
  const first = (name: 'markup_pct' | 'min_call_usd' | 'min_month_usd'): number =>
    all.find((one) => one?.[name] !== undefined)?.[name] ?? 0
  return {
    markup: Math.round(first('markup_pct') * 100),
    minCallNano: nanoOf(first('min_call_usd')),
    minMonthNano: nanoOf(first('min_month_usd')),
    ownKeys: given.own_keys,
  }
}
