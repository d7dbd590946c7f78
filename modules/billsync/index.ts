import { z } from 'zod'
import { CallStarted, defineModule, TraceReader } from '#kernel'
import { Configurations } from '#kit'
import { Closing } from './closing.ts'
import type { Currency } from './invoice.ts'
import { type Billing, fact, Ledger } from './ledger.ts'
import { idOfRates, rateSettings, ratesOf } from './rates.ts'
import { addRoutes } from './routes.ts'

const everyMs = 2000
const perRate = 1_000_000
const dollars: Currency = { code: 'USD', rate: perRate }

interface Invoicing extends Currency {
  readonly closesItself: boolean
}

export default defineModule({
  settings: z
    .strictObject({
      ...rateSettings,
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/, 'must be a code of three capital letters')
        .default('USD')
        .meta({ title: 'Currency', description: 'Currency of invoices (ISO 4217).' }),
      exchange_rate: z.number().min(0.000_001).max(1_000_000).multipleOf(0.000_001).default(1).meta({
        title: 'Exchange rate',
        description: 'Units of the currency for a US dollar, as of the day when a month is closed.',
      }),
      close: z.enum(['automatic', 'manual']).default('automatic').meta({
        title: 'Closing',
        description:
          'Automatic: a month is closed an hour after its end (UTC). Manual: when an admin says so.',
      }),
    })
    .refine(({ currency, exchange_rate }) => currency !== 'USD' || exchange_rate === 1, {
      path: ['exchange_rate'],
      message: 'must be 1 for USD',
    }),

  async once(context) {
    const { store, use, every, log } = context
    const ledger = new Ledger(store, () => use(TraceReader))
    await ledger.begin()
    const closing = new Closing(store, ledger)
    const invoicing = new Configurations<Invoicing>()
    const currency = (): Currency => invoicing.values[0] ?? dollars
    addRoutes(context, ledger, closing, currency)

    every(everyMs, async () => {
      await ledger.catchUp()
      const [now] = invoicing.values
      if (!now?.closesItself) return
      for (const { month, invoices } of await closing.closeDue(now))
        log.info({ month, invoices }, 'closed a month')
    })
    return { ledger, invoicing }
  },

  async setup({ id, settings, mode, on, own }, { ledger, invoicing }) {
    const rates = ratesOf(settings)
    const name = idOfRates(rates)
    await ledger.keep(name, rates)
    const billing = (plan: string | undefined): Billing => ({
      rates: name,
      ...(plan !== undefined && { plan }),
    })

    // Invoices are of the module itself; a binding has rates only.
    if (!id.includes('/') && mode === 'enforce') {
      const { currency: code, exchange_rate: rate, close } = settings
      const closesItself = close === 'automatic'
      own(invoicing.add(id, { code, rate: Math.round(rate * perRate), closesItself }))
      // Questions of plugins pass no module of this stage.
      on(CallStarted, ({ call: { context, principal, trace } }) => {
        if (!context.source.startsWith('plugin:')) return
        trace.facts[fact] = billing(principal.userId === undefined ? undefined : principal.plan)
      })
    }

    return {
      pure: true,
      request({ principal, trace }) {
        trace.facts[fact] = billing(principal.userId === undefined ? undefined : principal.plan)
        return undefined
      },
    }
  },
})
