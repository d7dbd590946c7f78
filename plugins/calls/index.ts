import { z } from 'zod'
import { defineArea, kernelServices, ModelCalls } from '#kernel'
import { Budgets, noReservations } from './budget.ts'
import { PluginCalls } from './calls.ts'

export default defineArea({
  settings: z.strictObject({}),

  async setup({ emit, log, memory, provide, store, use }) {
    const budgets = new Budgets(await store.counters('spent'), memory('reservations', noReservations))
    const calls = new PluginCalls({
      events: { emit },
      log,
      budgets,
      generation: () => use(kernelServices.registry).generation,
      principalOf: (keyId) => use(kernelServices.accounts).principalOf(keyId),
    })
    provide(ModelCalls, calls)
  },
})
